// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a step of the SM state machine has done, in words: the conditions of the state that changed, then the
// actions in their order.

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "mad/wire/mad.h"
#include "smd/ha/sm_machine.h"

namespace smd::sm::machine::test {

inline std::string text(const Answer& answer) {
  if (answer.status == wire::kStatusOk) return "[ok]";
  return answer.status == wire::kStatusBadField ? "[bad field]" : fmt::format("[{:#x}]", answer.status);
}
inline std::string text(const Became& change) {
  return fmt::format("{}->{}", to_string(change.from), to_string(change.to));
}
inline std::string text(const RequestSweep& request) {
  return fmt::format("{}{} \"{}\"", request.heavy ? "heavy" : "light", request.at_once ? " now" : "",
                     request.reason);
}
inline std::string text(const SendHandover& handover) {
  return fmt::format("HANDOVER to {}", handover.to.info.guid.value());
}
inline std::string text(const AwaitCopy& wait) {
  return fmt::format("await the copy of {}", wait.of.info.guid.value());
}
inline std::string text(const LogControl& line) {
  return fmt::format("log {} of {}", to_string(line.control), line.from.guid.value());
}
inline std::string_view why(Refusal refusal) {
  switch (refusal) {
    case Refusal::other_key:
      return "";
    case Refusal::no_key:
      return " without key";
    case Refusal::not_allowed:
      return " not allowed";
    case Refusal::not_master:
      return " not master";
  }
  return "?";
}
inline std::string text(const LogControlRefused& line) {
  return fmt::format("log refused {} of {}{}", to_string(line.control), line.from.value(), why(line.why));
}
inline std::string text(const SendAcknowledge& ack) {
  return fmt::format("ACKNOWLEDGE to {}", ack.to.value());
}
inline std::string text(const Follow&) { return "follow"; }
inline std::string text(const TellRank& tell) {
  return fmt::format("tell {} our rank", tell.master.info.guid.value());
}
inline std::string text(const BeginQuiet&) { return "begin quiet"; }
inline std::string text(const LogStranger& line) {
  return fmt::format("log stranger {}{}", line.sm.info.guid.value(), line.other_key ? " other key" : "");
}
inline std::string text(const LogDeclined& line) {
  return fmt::format("log {} declined: {}", line.sm.value(), line.reason);
}
inline std::string text(const LogStuck& line) {
  return fmt::format("log stuck {}", line.sm.info.guid.value());
}
inline std::string text(const LogOtherSm& line) {
  return fmt::format("log {} {}{}{}", line.two_masters ? "two masters" : "other", line.sm.info.guid.value(),
                     line.contested ? " contested" : "", line.known ? "" : " unknown");
}
inline std::string text(const LogMasterGone& line) {
  return fmt::format("log gone {}: {}", line.master.info.guid.value(), line.reason);
}
inline std::string text(const LogNoHandover& line) {
  return fmt::format("log no HANDOVER of {}", line.master.info.guid.value());
}
inline std::string text(const LogStoodStill&) { return "log stood still"; }

inline std::string text(const State& before, const Step& step) {
  const auto& now = step.next;
  std::string words;
  const auto add = [&](std::string word) {
    words += words.empty() ? "" : ", ";
    words += word;
  };
  const auto flag = [&](const char* name, bool was, bool is) {
    if (was != is) add(fmt::format("{}{}", is ? '+' : '-', name));
  };
  flag("adopting", before.adopting, now.adopting);
  flag("contested", before.contested, now.contested);
  flag("held", before.sets_held, now.sets_held);
  flag("unread", before.unread, now.unread);
  flag("alone", before.alone, now.alone);
  if (before.handed_over_by != now.handed_over_by)
    add(now.handed_over_by ? fmt::format("by {}", now.handed_over_by->value()) : "-by");
  const auto polled = [](const State& state) {
    return state.polled ? state.polled->sm.info.guid.value() : 0;
  };
  const auto lost = [](const State& state) { return state.polled ? state.polled->unanswered : 0; };
  if (before.replaced != now.replaced)
    add(now.replaced ? fmt::format("replaces {}", now.replaced->value()) : "-replaces");
  if (polled(before) != polled(now)) add(now.polled ? fmt::format("poll {}", polled(now)) : "-poll");
  if (now.polled && lost(before) != lost(now)) add(fmt::format("{} lost", lost(now)));
  for (const auto sm : now.hung) {
    if (!before.hung.contains(sm)) add(fmt::format("+hung {}", sm.value()));
  }
  for (const auto sm : before.hung) {
    if (!now.hung.contains(sm)) add(fmt::format("-hung {}", sm.value()));
  }
  const auto deferral = [](const State& state) {
    constexpr std::array<const char*, 3> kWords{"-deferral", "quiet", "deferral"};
    return kWords[static_cast<std::size_t>(state.deferral)];
  };
  if (before.deferral != now.deferral) add(deferral(now));
  if (before.yielded.has_value() != now.yielded.has_value())
    add(now.yielded ? fmt::format("yielded to {}", now.yielded->to.value()) : "-yielded");
  if (now.yielded && before.yielded && now.yielded->acknowledged != before.yielded->acknowledged)
    add("acknowledged");
  for (const auto sm : now.declined) {
    if (!before.declined.contains(sm)) add(fmt::format("+declined {}", sm.value()));
  }
  for (const auto sm : before.declined) {
    if (!now.declined.contains(sm)) add(fmt::format("-declined {}", sm.value()));
  }
  for (const auto& [sm, times] : now.idle) {
    if (!before.idle.contains(sm) || before.idle.at(sm) != times)
      add(fmt::format("idle {} x{}", sm.value(), times));
  }
  for (const auto& [sm, times] : before.idle) {
    if (!now.idle.contains(sm)) add(fmt::format("-idle {}", sm.value()));
  }
  for (const auto& [sm, count] : now.stuck) {
    if (!before.stuck.contains(sm)) add(fmt::format("+stuck {} at {}", sm.value(), count));
  }
  for (const auto& [sm, count] : before.stuck) {
    if (!now.stuck.contains(sm)) add(fmt::format("-stuck {}", sm.value()));
  }
  if (before.lagging != now.lagging) add(now.lagging.empty() ? "-lagging" : "lagging");
  if (before.copies != now.copies) add(now.copies.empty() ? "-copies" : "copies");
  if (before.standstills != now.standstills) add(fmt::format("standstills {}", now.standstills));
  if (before.accounted != now.accounted) add(fmt::format("accounted {}", now.accounted));
  if (before.self.priority != now.self.priority) add(fmt::format("priority {}", now.self.priority));
  if (before.policy.losses != now.policy.losses) add(fmt::format("losses {}", now.policy.losses));
  for (const auto& action : step.actions) add(std::visit([](const auto& one) { return text(one); }, action));
  return words.empty() ? "nothing" : words;
}

}  // namespace smd::sm::machine::test
