// SPDX-License-Identifier: Apache-2.0
#include "smd/api/not_master.h"

#include <fmt/format.h>

#include "smd/api/hand_on.h"
#include "smd/api/handlers.h"

namespace smd::api {

std::string master_words(const SubnetView& view) {
  std::string words;
  if (view.sms) {
    for (const auto& other : view.sms->others) {
      if (other.sm.info.state == wire::SmState::master)
        words = fmt::format(", {} (port GUID {}{})", other.sm.node_description, other.sm.info.guid,
                            other.sm.lid != Lid{} ? fmt::format(", LID {}", other.sm.lid) : std::string());
    }
  }
  const bool copies =
      view.replica && view.replica->direct && view.replica->heard != 0 && !view.replica->master.empty();
  if (copies) words += fmt::format(", at {}", view.replica->master);
  return words;
}

std::string why_words(const SubnetView& view) {
  if (view.waiting) return {};
  if (view.snapshot) return view.snapshot->summary.why;
  return view.activity
             ? fmt::format("reads its fabric for the first time: {} SMPs so far", view.activity->smps)
             : std::string();
}

std::optional<Answer> mastership_hindrance(const SubnetView& view, std::string_view what) {
  if (!view.snapshot) return std::nullopt;
  if (sm_state(view) != wire::SmState::master)
    return hands_on(view) ? no_longer_master(view) : not_master(view, what);
  if (view.sms && view.sms->state.sets_held) return no_longer_master(view);
  return two_masters(view);
}

Answer no_longer_master(const SubnetView& view) {
  return error_of(503, "no_master",
                  fmt::format("{}: this SM is not master any more, or has stood still and asks first whether "
                              "another SM is master now: nothing was changed, ask again",
                              view.name));
}

Answer mastership_ended(const SubnetView& view) {
  return error_of(
      503, "no_master",
      fmt::format("{}: the mastership has ended while the change was made, or may have: whether it "
                  "was made is not known, ask again",
                  view.name));
}

std::optional<Answer> two_masters(const SubnetView& view) {
  if (!view.sms) return std::nullopt;
  const auto& state = view.sms->state;
  // What is changed now is lost where another SM is master by the time that it has a link again.
  if (state.alone && view.replica) return not_yet(view, "its port has no link");
  if (!state.contested) return std::nullopt;
  return error_of(
      503, "two_masters",
      fmt::format("{}: another SM is master, too: nothing is changed until one of them gives way{}",
                  view.name, master_words(view)));
}

Answer not_yet(const SubnetView& view, std::string_view what) {
  const auto why = view.waiting ? std::string_view(view.waiting->reason) : what;
  return error_of(503, "waiting", fmt::format("{} waits: {}", view.name, why));
}

Answer not_read(const SubnetView& view) { return not_yet(view, "the fabric is not read yet"); }

Answer not_master(const SubnetView& view, std::string_view what) {
  return error_of(409, "not_master",
                  fmt::format("{}: this SM is not master: {}{}", view.name, what, master_words(view)));
}

}  // namespace smd::api
