// SPDX-License-Identifier: Apache-2.0
#include "smd/api/event_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "config/glob.h"
#include "smd/api/caller.h"
#include "smd/api/json_out.h"

namespace smd::api {
namespace {

/// Events in a piece.
constexpr std::size_t kPieceEvents = 256;

/// An event for the client's handlers. Names and ids are ours, data is one line of JSON: none has a line
/// feed.
std::string frame(std::string_view id, std::string_view name, const sm::Json& data) {
  return fmt::format("id: {}\nevent: {}\ndata: {}\n\n", id, name, sm::to_text(data));
}

}  // namespace

std::function<bool(std::string_view)> EventsWanted::named() const {
  if (match.empty()) return {};
  return [this](std::string_view name) { return config::matches_glob(match, name); };
}

store::EventQuery query_of(const EventsWanted& wanted, const EventView& view, std::string_view list) {
  // A time that is so long ago is another one at each search.
  const bool is_known = !list.empty() && !wanted.from;
  auto query = view.query(wanted.subnet, is_known ? fmt::format("{} {}", list, wanted.match) : std::string());
  query.after = wanted.after;
  query.from = wanted.from;
  query.named = wanted.named();
  return query;
}

bool is_gap(const store::EventsFound& found, const std::optional<events::EventId>& after, bool is_tenant) {
  return found.gap && !(is_tenant && after == events::EventId{});
}

EventStream::EventStream(EventsWanted wanted, Request request, Backend& backend)
    : wanted_(std::move(wanted)), request_(std::move(request)), backend_(backend) {
  request_.body.clear();
}

bool EventStream::may_see(const access::Access& access) const {
  if (!access.is_known()) return false;
  if (!wanted_.subnet) return true;
  const auto views = backend_.subnets();
  return access.in(*wanted_.subnet) &&
         std::ranges::any_of(views, [&](const auto& view) { return view->name == *wanted_.subnet; });
}

std::optional<std::string> EventStream::next(std::int64_t now, bool quiet) {
  auto access = access_now(request_, now, backend_);
  if (!may_see(access)) return std::nullopt;
  // Each stream looks several times a second, and what a tenant sees is to be put together from its members.
  if (begun_ && !quiet && backend_.events().extent().last == wanted_.after) return std::string();
  const EventView view(std::move(access), backend_);
  std::string piece;
  if (!std::exchange(begun_, true)) piece = begin(view);
  if (piece.empty()) piece = more(view);
  // With the id the client goes on from here after a break, though none of the events was for it.
  if (piece.empty() && quiet) piece = fmt::format(": alive\nid: {}\n\n", to_text(cursor(view)));
  return piece;
}

/// Those that the caller may see.
std::string EventStream::frames(const std::deque<events::EventPtr>& events, const EventView& view) {
  std::string text;
  for (const auto& event : events) {
    const auto fields = view.seen(*event);
    if (!fields) continue;
    text += frame(to_text(event->id()), std::get<events::NamedLogEvent>(event->payload).name,
                  event_json(*event, *fields));
    sent_ = event->id();
  }
  return text;
}

/// Where the client goes on after a break. What a tenant does not see does not move it.
events::EventId EventStream::cursor(const EventView& view) const {
  return view.is_of_tenant(wanted_.subnet) ? sent_ : *wanted_.after;
}

/// Of a client that does not say after what it goes on, or after what is not kept any more.
events::EventId EventStream::start(const EventView& view, events::EventId last) {
  if (!view.is_of_tenant(wanted_.subnet)) return last;
  return latest_seen(view.query(wanted_.subnet, kLatestEvent), last, backend_);
}

/// As many as the client has asked for.
store::EventsFound EventStream::latest(const EventView& view) const {
  auto query = query_of(wanted_, view, kEventList);
  query.limit = *wanted_.limit;
  return backend_.event_log().find(query);
}

/// How long to wait after a break, and the latest events where the client has asked for some, else an id:
/// with it a client whose connection breaks before anything has happened goes on from here.
std::string EventStream::begin(const EventView& view) {
  std::string piece = "retry: 2000\n\n";
  if (wanted_.after) {
    sent_ = *wanted_.after;
    return piece;
  }
  // Who has asked for none is not looked for: the file may have 100,000.
  const auto found = wanted_.limit ? latest(view) : store::EventsFound{.next = backend_.event_log().last()};
  sent_ = start(view, found.next);
  const auto events = frames(found.events, view);
  wanted_.after = found.next;
  return piece + (events.empty() ? fmt::format("id: {}\n\n", to_text(cursor(view))) : events);
}

std::string EventStream::more(const EventView& view) {
  std::string piece;
  // Those of others do not count: a piece without any would be the end of what is there.
  auto query = query_of(wanted_, view);
  query.limit = kPieceEvents;
  const auto found = backend_.event_log().find(query);
  if (is_gap(found, wanted_.after, view.is_of_tenant(wanted_.subnet))) {
    const auto since = to_text(cursor(view));
    piece = frame(since, "gap",
                  sm::Json(sm::JsonObject{{"since", text(since)},
                                          {"reason", text("events that followed are not kept any more")}}));
    sent_ = start(view, found.next);
  }
  piece += frames(found.events, view);
  wanted_.after = found.next;
  return piece;
}

}  // namespace smd::api
