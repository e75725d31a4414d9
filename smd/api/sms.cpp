// SPDX-License-Identifier: Apache-2.0
// The SMs of a subnet, and which of them has the fabric.
#include "smd/api/sms.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <optional>

#include "mad/base/parse.h"
#include "smd/api/handlers.h"
#include "smd/api/json_in.h"
#include "smd/api/json_out.h"
#include "smd/api/listing.h"
#include "smd/api/lost.h"
#include "smd/api/not_master.h"
#include "smd/api/request.h"
#include "smd/base/unix_time.h"
#include "smd/replica/view.h"
#include "smd/report/description.h"

namespace smd::api {

using sm::Json;
using sm::JsonObject;

namespace {

Json own_row(const SubnetView& view, const sm::SmView& sms) {
  const auto& rank = sms.shown.rank;
  const auto* subnet = view.snapshot ? view.snapshot->subnet.get() : nullptr;
  const auto* node = subnet != nullptr ? subnet->find(subnet->sm_node) : nullptr;
  const auto port = subnet != nullptr ? subnet->sm_port : PortNum{};
  const auto lid = node != nullptr ? node->ports[port.value()].info.lid : Lid{};
  return Json(JsonObject{{"guid", guid(rank.guid)},
                         {"node", text(node != nullptr ? description_of(*subnet, node->guid()) : "")},
                         {"port", number(port.value())},
                         {"lid", number(lid.value())},
                         {"priority", number(rank.priority)},
                         {"state", text(state_word(sms.shown.state))},
                         {"act_count", number(sms.act_count)},
                         {"last_seen", unix_json(sm::unix_now())},
                         {"self", Json(true)},
                         {"answers", Json(true)},
                         {"outlook", text(outlook_of(view))}});
}

Json row_of(const sm::SmView& sms, const sm::SeenSm& other) {
  const auto& info = other.sm.info;
  return Json(JsonObject{{"guid", guid(info.guid)},
                         {"node", text(other.sm.node_description)},
                         {"port", number(other.sm.at.port.value())},
                         {"lid", number(other.sm.lid.value())},
                         {"priority", number(info.priority)},
                         {"state", text(state_word(info.state))},
                         {"act_count", number(info.act_count)},
                         {"last_seen", other.seen != 0 ? unix_json(other.seen) : Json{}},
                         {"self", Json(false)},
                         {"answers", Json(other.sm.answered)},
                         {"outlook", text(sm::outlook(sms, other))}});
}

/// How long a change may wait for a standby that gets the fabric: what is new is sent before HANDOVER.
constexpr std::chrono::seconds kMostLag{1};

/// What of our state the SM lacks that is to have the fabric; empty: nothing, or none of it is copied by
/// connections to standbys.
std::string lacks(const SubnetView& view, Guid to) {
  const auto* replica = view.replica.get();
  if (replica == nullptr || replica->role != replica::ReplicaView::Role::source || !replica->direct)
    return {};
  const auto at = std::ranges::find(replica->standbys, to, &replica::StandbyView::port);
  if (at == replica->standbys.end())
    return "it does not copy the state of this SM now: later changes, members and services would be lost";
  if (at->behind == 0 || at->lag < kMostLag) return {};
  return fmt::format("{} changes are not on its disk, the oldest for {:.1f} s", at->behind,
                     std::chrono::duration<double>(at->lag).count());
}

/// Why nothing can be asked of the SM now; nothing: it can.
std::optional<Answer> not_running(const SubnetView& view) {
  if (view.sms && view.snapshot) return std::nullopt;
  return not_yet(view, "no sweep has ended yet");
}

}  // namespace

std::string outlook_of(const SubnetView& view) {
  if (!view.sms) return {};
  auto words = sm::outlook(*view.sms, sm::unix_now());
  const bool alone = view.sms->state.sm == wire::SmState::master && !view.sms->state.contested;
  auto next = alone ? sm::next_master(*view.sms) : std::nullopt;
  const auto heir = alone ? sm::successor(*view.sms, std::nullopt) : std::unexpected(std::string());
  // Else the words say already that it has less of a copy than the other.
  if (next && heir && heir->info.guid != next->info.guid) next.reset();
  if (const auto missing = next ? lacks(view, next->info.guid) : std::string(); !missing.empty())
    words += "; " + missing;
  return words;
}

Answer get_sms(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto& view = *chosen->view;
  const auto page = page_of(question);
  if (!page) return page.error();
  if (!page->after.empty() && !base::parse_guid(page->after)) return bad_cursor(page->after);
  std::vector<Entry> rows;
  if (view.sms) {
    rows.push_back({own_row(view, *view.sms), fmt::format("{}", view.sms->shown.rank.guid)});
    for (const auto& other : view.sms->others)
      rows.push_back({row_of(*view.sms, other), fmt::format("{}", other.sm.info.guid)});
  }
  const auto deferral = view.sms ? view.sms->state.deferral : sm::machine::Deferral::none;
  const bool quiet = deferral == sm::machine::Deferral::quiet;
  return short_listing("sms", *page, std::move(rows),
                       {.before = {{"subnet", text(view.name)},
                                   {"priority", view.sms ? number(view.sms->state.self.priority) : Json{}},
                                   {"quiet_until", quiet ? unix_json(view.sms->quiet_until) : Json{}}},
                        .after = {}});
}

Answer post_handover(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto body = object_of(question.body, {"guid", "force", "dry_run"});
  if (!body) return body.error();
  const auto dry_run = dry_run_in(*body);
  if (!dry_run) return dry_run.error();
  const auto force = flag_in(*body, "force");
  if (!force) return force.error();
  std::optional<Guid> only;
  if (const auto* asked = body->if_contains("guid")) {
    const auto* words = asked->if_string();
    only = words != nullptr ? base::parse_guid(std::string_view(*words)) : std::nullopt;
    if (!only)
      return bad_body(fmt::format("guid: found {}, allowed a port GUID such as \"0x0002c90300001234\"",
                                  boost::json::serialize(*asked)));
  }
  const auto& view = *chosen->view;
  if (const auto why = not_running(view)) return *why;
  if (sm_state(view) != wire::SmState::master) return not_master(view, "only the master hands over");
  const auto to = sm::successor(*view.sms, only);
  if (!to) return error_of(409, "no_handover", to.error());
  if (const auto missing = lacks(view, to->info.guid); !missing.empty() && !*force)
    return error_of(409, "not_current",
                    fmt::format("{} \"{}\": {}; force hands over all the same", to->info.guid,
                                to->node_description, missing));
  if (!*dry_run) backend.hand_over(chosen->index, to->info.guid);
  return answer_of(Json(JsonObject{{"subnet", text(view.name)},
                                   {"to", guid(to->info.guid)},
                                   {"node", text(to->node_description)},
                                   {"dry_run", Json(*dry_run)}}),
                   *dry_run ? 200 : 202);
}

Answer put_priority(const Question& question, Backend& backend) {
  constexpr std::int64_t kHighest = 15;
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto body = object_of(question.body, {"priority", "dry_run"});
  if (!body) return body.error();
  const auto dry_run = dry_run_in(*body);
  if (!dry_run) return dry_run.error();
  const auto* asked = body->if_contains("priority");
  if (asked == nullptr) return bad_body("priority: missing");
  const auto* number_asked = asked->if_int64();
  if (number_asked == nullptr || *number_asked < 0 || *number_asked > kHighest)
    return bad_body(fmt::format("priority: found {}, allowed a whole number from 0 to {}",
                                boost::json::serialize(*asked), kHighest));
  const auto& view = *chosen->view;
  if (const auto why = not_running(view)) return *why;
  if (!*dry_run) backend.set_priority(chosen->index, static_cast<std::uint8_t>(*number_asked));
  return answer_of(Json(JsonObject{{"subnet", text(view.name)},
                                   {"was", number(view.sms->state.self.priority)},
                                   {"priority", number(static_cast<std::uint64_t>(*number_asked))},
                                   {"dry_run", Json(*dry_run)}}));
}

}  // namespace smd::api
