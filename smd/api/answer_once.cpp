// SPDX-License-Identifier: Apache-2.0
#include "smd/api/answer_once.h"

#include <utility>

#include "smd/api/handlers.h"
#include "smd/api/policy_change.h"
#include "smd/api/ufm.h"

namespace smd::api {
namespace {

/// What a change of partitions was answered before, by this SM or one before it.
std::optional<Answer> kept_answer(const Question& question, const Once& once, const Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen || !chosen->view->policy_state) return std::nullopt;
  auto before = answered_before(chosen->view->policy_state->policies->answers, once, question.request->time);
  if (!before || before->status / 100 != 2) return before;
  return waits_for_standby(*chosen->view).value_or(*std::move(before));
}

}  // namespace

Answer answer_once(const Route& route, Question& question, bool for_master, Backend& backend,
                   const std::function<Answer()>& answer_now) {
  const auto& request = *question.request;
  const bool has_key = route.method == "POST" && !request.idempotency_key.empty();
  // Neither a secret nor who may have a session is remembered.
  if (!has_key || route.needs == Needs::local || route.needs == Needs::nothing) return answer_now();
  auto path = request.target.substr(0, request.target.find('?'));
  // UFM's calls name the subnet there.
  if (const auto fabric = question.asked("fabric"); is_ufm(route.path) && !fabric.empty())
    path += "?fabric=" + percent_encoded(fabric);
  const auto once = once_of(request, question.access->name(), path);
  if (!once) return once.error();
  if (auto kept = kept_answer(question, *once, backend)) return *std::move(kept);
  auto& answered = backend.answered();
  auto before = for_master ? answered.find(*once, request.time) : answered.begin(*once, request.time);
  if (before) return *std::move(before);
  question.once = &*once;
  auto made = answer_now();
  question.once = nullptr;
  if (!for_master) answered.end(*once, made, request.time);
  return made;
}

}  // namespace smd::api
