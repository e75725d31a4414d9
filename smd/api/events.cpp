// SPDX-License-Identifier: Apache-2.0
// What has happened: the lines of the log, as values, in pages or as they come.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "mad/base/parse.h"
#include "smd/api/event_stream.h"
#include "smd/api/event_view.h"
#include "smd/api/handlers.h"
#include "smd/api/json_out.h"
#include "smd/api/listing.h"
#include "smd/api/since.h"
#include "smd/log/fields.h"

namespace smd::api {

using sm::Json;
using sm::JsonArray;
using sm::JsonObject;

namespace {

/// Events of what was changed: by callers of the API, by the files, and by smd in what it decides. Ascending.
constexpr std::array<std::string_view, 38> kChanges{"api.call",
                                                    "api.handover",
                                                    "api.log",
                                                    "api.resweep",
                                                    "api.token",
                                                    "config.reloaded",
                                                    "ha.took_over",
                                                    "lid.imported",
                                                    "lid.lmc_adopted",
                                                    "lid.lmc_lowered",
                                                    "m_key.imported",
                                                    "partition.changed",
                                                    "partition.given_back",
                                                    "partition.index0",
                                                    "partition.managed",
                                                    "partition.name_shared",
                                                    "partition.sl_of_class",
                                                    "partition.taken_over",
                                                    "port.disabled",
                                                    "port.enabled",
                                                    "port.reset",
                                                    "qos.off",
                                                    "qos.policy",
                                                    "qos.service_levels",
                                                    "qos.tables",
                                                    "routing.adaptive_disabled",
                                                    "routing.adopted",
                                                    "routing.chosen",
                                                    "routing.engine_changed",
                                                    "routing.fell_back",
                                                    "routing.path_sl_adopted",
                                                    "routing.sl_released",
                                                    "sm.handover",
                                                    "sm.priority",
                                                    "sm.state",
                                                    "subnet.accepted",
                                                    "sweep.off",
                                                    "sweep.on"};
static_assert(std::ranges::is_sorted(kChanges));

bool may_be_change(std::string_view name) { return std::ranges::binary_search(kChanges, name); }

/// One of those names. A call that was refused, and a dry run, have changed nothing.
bool is_change(const events::NamedLogEvent& line, const std::vector<log::Field>& fields) {
  if (line.name != "api.call") return true;
  if (log::value_of(fields, "dry_run") != nullptr) return false;
  const auto* status = log::value_of(fields, "status");
  return status != nullptr && *status < "400";
}

constexpr std::size_t kUsual = 100, kMostEvents = 10'000;

std::expected<EventsWanted, Answer> events_wanted(const Question& question) {
  const auto find = [&](const char* name) {
    const auto at = question.query.find(name);
    return at != question.query.end() ? at->second : std::string();
  };
  EventsWanted wanted{.match = find("match")};
  if (const auto limit = find("limit"); question.query.contains("limit")) {
    const auto number = base::parse_number(limit, kMostEvents);
    if (!number || *number == 0) return std::unexpected(bad_query("limit", limit, "1 to 10000"));
    wanted.limit = number;
  }
  // What a client has got last counts more than what it began with.
  const auto& last = question.request->last_event_id;
  if (last.empty() && !question.query.contains("since")) return wanted;
  wanted.after = parse_event_id(last.empty() ? find("since") : last);
  if (!wanted.after && last.empty())
    wanted.from = parse_since(find("since"), std::chrono::system_clock::now());
  if (!wanted.after && !wanted.from)
    return std::unexpected(bad_query(
        last.empty() ? "since" : "Last-Event-ID", last.empty() ? find("since") : last,
        last.empty()
            ? "the id of an event, `next` of the answer before, a time (2026-11-29T01:30:00Z), or how "
              "long ago (1h30m)"
            : "the id of an event"));
  return wanted;
}

bool is_for_stream(const Request& request) { return accepts(request.accept, "text/event-stream"); }

Answer stream_of(EventsWanted wanted, const Question& question, Backend& backend) {
  if (wanted.from && !wanted.limit) wanted.limit = kMostEvents;
  Answer answer{.status = 200, .body = {}, .bundle = nullptr, .allow = {}, .type = "text/event-stream"};
  answer.stream = std::make_shared<EventStream>(std::move(wanted), *question.request, backend);
  return answer;
}

/// Where a tenant goes on: what it does not see moves its cursor neither. That of "nothing so far" is the id
/// of no event. `seen`: what counts for it.
events::EventId next_of_tenant(const store::EventsFound& found, const std::optional<events::EventId>& after,
                               store::EventQuery seen, Backend& backend) {
  if (!found.events.empty()) return found.events.back()->id();
  if (after && (!found.gap || *after == events::EventId{})) return *after;
  return latest_seen(std::move(seen), found.next, backend);
}

Answer events_page(const EventsWanted& wanted, const Question& question, Backend& backend) {
  const EventView view(*question.access, backend);
  auto query = query_of(wanted, view, kEventList);
  query.limit = wanted.limit.value_or(kUsual);
  const auto found = backend.event_log().find(query);
  JsonArray list;
  for (const auto& event : found.events) {
    if (const auto fields = view.seen(*event)) list.push_back(event_json(*event, *fields));
  }
  JsonObject page;
  if (wanted.subnet) page.emplace("subnet", text(*wanted.subnet));
  page.emplace("events", Json(std::move(list)));
  const bool is_tenant = view.is_of_tenant(wanted.subnet);
  const auto next =
      is_tenant ? next_of_tenant(found, wanted.after, view.query(wanted.subnet, kLatestEvent), backend)
                : found.next;
  page.emplace("next", text(to_text(next)));
  page.emplace("gap", Json(is_gap(found, wanted.after, is_tenant)));
  return answer_of(Json(std::move(page)));
}

}  // namespace

Answer get_all_events(const Question& question, Backend& backend) {
  auto wanted = events_wanted(question);
  if (!wanted) return wanted.error();
  if (is_for_stream(*question.request)) return stream_of(*std::move(wanted), question, backend);
  return events_page(*wanted, question, backend);
}

Answer get_changes(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  auto wanted = events_wanted(question);
  if (!wanted) return wanted.error();
  if (const auto cursor = question.asked("cursor"); !cursor.empty()) {
    wanted->after = parse_event_id(cursor);
    if (!wanted->after) return bad_cursor(cursor);
  }
  const auto& name = chosen->view->name;
  const EventView view(*question.access, backend);
  const auto is_seen = [&](const events::Event& event) {
    if (event.subnet != name && !event.subnet.empty()) return false;
    const auto fields = view.seen(event);
    return fields && is_change(std::get<events::NamedLogEvent>(event.payload), *fields);
  };
  const auto is_named = [matches = wanted->named()](std::string_view event) {
    return may_be_change(event) && (!matches || matches(event));
  };
  auto query = query_of(*wanted, view, fmt::format("changes of {}", name));
  query.limit = wanted->limit.value_or(kUsual);
  query.named = is_named;
  query.wanted = is_seen;
  const auto found = backend.event_log().find(query);
  JsonArray list;
  for (const auto& event : found.events) {
    if (const auto fields = view.seen(*event)) list.push_back(event_json(*event, *fields));
  }
  const bool is_tenant = view.is_of_tenant(name);
  auto changes = view.query(std::nullopt, fmt::format("latest change of {}", name));
  changes.named = may_be_change;
  changes.wanted = is_seen;
  const auto next =
      is_tenant ? next_of_tenant(found, wanted->after, std::move(changes), backend) : found.next;
  return answer_of(Json(JsonObject{{"subnet", text(name)},
                                   {"changes", Json(std::move(list))},
                                   {"next", text(to_text(next))},
                                   {"gap", Json(is_gap(found, wanted->after, is_tenant))}}));
}

Answer get_events(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  auto wanted = events_wanted(question);
  if (!wanted) return wanted.error();
  wanted->subnet = chosen->view->name;
  if (is_for_stream(*question.request)) return stream_of(*std::move(wanted), question, backend);
  return events_page(*wanted, question, backend);
}

}  // namespace smd::api
