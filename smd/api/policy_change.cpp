// SPDX-License-Identifier: Apache-2.0
#include "smd/api/policy_change.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "smd/api/not_master.h"
#include "smd/api/tag.h"

namespace smd::api {
namespace {

/// A store that takes nothing gives up long before.
constexpr std::chrono::seconds kLongestChange{10};

/// In the same commit as the change: one is not kept without the other.
void keep_answer(Step& step, const Question& question) {
  auto after = std::make_shared<policy::Policies>(*step.change.after);
  const auto& told = question.told != nullptr ? *question.told : step.done;
  policy::keep_answer(after->answers, question.once->scope,
                      {.digest = question.once->digest,
                       .status = told.status,
                       .body = told.body,
                       .made = question.request->time});
  step.change.after = std::move(after);
}

Answer not_copied() {
  return error_of(503, "not_copied",
                  "the change is made here, but no standby has it on its disk, and [ha] mode is "
                  "\"sync-strict\": ask again");
}

}  // namespace

std::optional<Answer> store_hindrance(const SubnetView& view) {
  if (view.policy_state) return std::nullopt;
  return not_yet(view,
                 known_policies(view) != nullptr ? "there is no port yet" : "the store is not open yet");
}

std::optional<Answer> waits_for_standby(const SubnetView& view) {
  const auto* replica = view.replica.get();
  const bool waits = replica != nullptr && replica->role == replica::ReplicaView::Role::source &&
                     replica->mode == "sync-strict" && !replica->in_sync;
  return waits ? std::optional(not_copied()) : std::nullopt;
}

Answer change_policies(const Question& question, Backend& backend, Hindrance hindrance,
                       const MakeStep& make) {
  for (;;) {
    const auto chosen = choose(question, backend);
    if (!chosen) return chosen.error();
    const auto& view = *chosen->view;
    if (auto refused = hindrance(view)) return *std::move(refused);
    if (auto refused =
            not_that_policy(*question.request, *view.policy_state, question.path.contains("token")))
      return *std::move(refused);
    auto step = make(view);
    if (!step) {
      // A DELETE that is asked again, because no standby had it.
      const bool gone = step.error().status == 404 && question.request->method == "DELETE";
      return (gone ? waits_for_standby(view) : std::nullopt).value_or(step.error());
    }
    if (!step->changes) return waits_for_standby(view).value_or(step->done);
    // A token's secret is told once: it would be lost.
    const bool told_once = !step->change.token.empty();
    step->change.before = view.policy_state;
    if (question.once != nullptr) keep_answer(*step, question);
    auto verdict = backend.change_policies(chosen->index, std::move(step->change));
    if (verdict.wait_for(kLongestChange) != std::future_status::ready)
      return error_of(503, "busy", fmt::format("{}: the change is not kept yet, ask again", view.name));
    switch (verdict.get()) {
      case PolicyVerdict::done:
        return step->done;
      case PolicyVerdict::not_copied:
        return told_once ? step->done : not_copied();
      case PolicyVerdict::not_kept:
        return error_of(
            503, "store_failed",
            "the change cannot be written to the store; nothing was changed, `smd status` says why");
      case PolicyVerdict::not_master:
        return no_longer_master(view);
      case PolicyVerdict::maybe_lost:
        return mastership_ended(view);
      case PolicyVerdict::stale:
        break;
    }
  }
}

}  // namespace smd::api
