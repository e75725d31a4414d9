// SPDX-License-Identifier: Apache-2.0
#include "smd/ha/sm_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace smd::sm::inline availability {
namespace {

using machine::Deferral;
using wire::SmState;

std::string sm_name(const OtherSm& sm) { return fmt::format("{} \"{}\"", sm.info.guid, sm.node_description); }

std::string time_words(std::int64_t seconds) {
  if (seconds >= 90) return fmt::format("{} min", (seconds + 30) / 60);
  return fmt::format("{} s", std::max<std::int64_t>(seconds, 0));
}

std::string failure_words(const SmView& view) {
  return fmt::format("{:.1f} s", std::chrono::duration<double>(view.takeover).count());
}

std::vector<OtherSm> sms_of(const SmView& view) {
  std::vector<OtherSm> sms;
  for (const auto& other : view.others) sms.push_back(other.sm);
  return sms;
}

const char* why_never_obeyed(const machine::State& state, const wire::SmInfo& info) {
  return machine::has_other_key(state, info) ? "another SM_Key" : "not in [sm] allowed_guids";
}

std::string master_outlook(const SmView& view) {
  const auto& state = view.state;
  if (state.contested && state.polled && !machine::is_obeyed(state, state.polled->sm.info))
    return fmt::format("writes nothing: {} is master, too, and is never obeyed ({}): stop one of the two",
                       sm_name(state.polled->sm), why_never_obeyed(state, state.polled->sm.info));
  if (state.contested) return "waits for HANDOVER of the other master; it writes nothing until then";
  if (state.alone) return "has no link; with one it begins as at its start, and a master that is there stays";
  const auto next = next_master(view);
  if (!next) return "stays master; there is no standby that takes over";
  auto takes_over = fmt::format("{} takes over when it fails", sm_name(*next));
  const auto heir = machine::successor(state, sms_of(view), std::nullopt);
  if (heir && heir->info.guid != next->info.guid)
    takes_over += fmt::format(
        " and has less of a copy than {}, which gets the fabric when smd ends or by "
        "`smd handover`",
        sm_name(*heir));
  if (state.declined.contains(next->info.guid) && view.shown.rank < machine::rank_of(next->info))
    return fmt::format("stays master: {} ranks higher and did not take the HANDOVER", sm_name(*next));
  return fmt::format("stays master; {}", takes_over);
}

std::string standby_outlook(const SmView& view, std::int64_t now) {
  const auto& state = view.state;
  auto fails = fmt::format("takes over {} after the master's last answer", failure_words(view));
  switch (state.deferral) {
    case Deferral::quiet: {
      const bool higher = state.followed && *state.followed < state.self;
      const auto left = time_words(view.quiet_until - now);
      if (!higher) return fmt::format("{}; [ha] quiet ends in {}", fails, left);
      return fmt::format("asks for the fabric in {}, when [ha] quiet ends; {}", left, fails);
    }
    case Deferral::handed_over:
      return fmt::format("has handed over, and takes the fabric only by HANDOVER or `smd priority`; {}",
                         fails);
    case Deferral::none:
      break;
  }
  if (state.yielded) return "has handed over, and waits for the other SM to become master";
  if (machine::outranks_master(state)) return "ranks above the master and waits for its HANDOVER";
  return fails;
}

/// Ours alone: it is never obeyed.
std::string stranger_words(const SmView& view, const wire::SmInfo& info) {
  const auto* const why = why_never_obeyed(view.state, info);
  if (info.state == SmState::master)
    return fmt::format("never obeyed: {}; smd waits while it is master", why);
  return fmt::format("never obeyed: {}", why);
}

/// "; 0x… "h1" may not have the fabric: …" for each SM that is never obeyed.
std::string strangers_text(const SmView& view) {
  std::string all;
  for (const auto& [sm, seen] : view.others) {
    if (!machine::is_obeyed(view.state, sm.info))
      all += fmt::format("; {} may not have the fabric: {}", sm_name(sm), stranger_words(view, sm.info));
  }
  return all;
}

}  // namespace

std::optional<OtherSm> next_master(const SmView& view) {
  auto by_rank = view.state;
  by_rank.copies.clear();
  // One that shows NotActive may do so for [ha] quiet, and takes the fabric all the same: where there is no
  // other, it is named.
  return machine::successor(by_rank, sms_of(view), std::nullopt);
}

std::string outlook(const SmView& view, std::int64_t now) {
  switch (view.state.sm) {
    case SmState::master:
      return master_outlook(view);
    case SmState::standby:
      return standby_outlook(view, now);
    case SmState::not_active:
      return "is disabled by another SM";
    case SmState::discovering:
      return "reads the fabric";
  }
  return {};
}

std::string outlook(const SmView& view, const SeenSm& other) {
  const auto& info = other.sm.info;
  const auto& state = view.state;
  if (!other.sm.answered) return "does not answer SMInfo";
  if (state.stuck.contains(info.guid)) return "answers, but its ActCount does not grow";
  if (!machine::is_obeyed(state, info)) return stranger_words(view, info);
  const bool ours = state.sm == SmState::master;
  switch (info.state) {
    case SmState::master:
      if (ours && state.contested) return "must hand over to this SM, which ranks higher";
      return state.deferral == Deferral::none && machine::outranks_master(state)
                 ? "has to hand over to this SM"
                 : "stays master";
    case SmState::not_active:
      return ours ? "takes no part; an smd that shows this to defer takes over when this SM fails"
                  : "takes no part";
    case SmState::discovering:
      return "reads the fabric";
    case SmState::standby:
      break;
  }
  if (!ours) return "waits for the same master";
  if (state.declined.contains(info.guid)) return "did not take the HANDOVER";
  if (view.shown.rank < machine::rank_of(info))
    return state.lagging.contains(info.guid)
               ? "ranks higher: gets the fabric when it has copied all, or after 10 s"
               : "gets the fabric: it ranks higher";
  const auto next = next_master(view);
  if (next && next->info.guid == info.guid) return "takes over when this SM fails";
  const auto heir = machine::successor(state, sms_of(view), std::nullopt);
  return heir && heir->info.guid == info.guid
             ? "gets the fabric when this SM ends, or by `smd handover`: it has more of a copy than the one "
               "that takes over when this SM fails"
             : "waits behind another standby";
}

std::string why_stranger(const SmView& view, const wire::SmInfo& info) {
  return machine::is_obeyed(view.state, info) ? std::string{} : stranger_words(view, info);
}

std::expected<OtherSm, std::string> successor(const SmView& view, std::optional<Guid> only) {
  const auto& state = view.state;
  if (state.sm != SmState::master)
    return std::unexpected(fmt::format("this SM is {}: only the master hands over", to_string(state.sm)));
  if (state.contested || state.sets_held)
    return std::unexpected(
        std::string("another SM may be master: nothing is handed over until that is known"));
  const auto found = machine::successor(state, sms_of(view), only);
  if (found) return *found;
  if (!only) return std::unexpected("no standby: there is no SM to hand over to" + strangers_text(view));
  if (*only == state.self.guid) return std::unexpected(std::string("this SM is the master already"));
  const auto known = std::ranges::find(view.others, *only, [](const SeenSm& o) { return o.sm.info.guid; });
  if (known == view.others.end())
    return std::unexpected(fmt::format("no SM has the port GUID {}: smd sms lists them", *only));
  if (!machine::is_obeyed(state, known->sm.info))
    return std::unexpected(fmt::format("{} may not have the fabric: {}", sm_name(known->sm),
                                       stranger_words(view, known->sm.info)));
  return std::unexpected(
      fmt::format("{} is no standby: {}", sm_name(known->sm),
                  known->sm.answered ? to_string(known->sm.info.state) : "it does not answer"));
}

}  // namespace smd::sm::inline availability
