// SPDX-License-Identifier: Apache-2.0
#pragma once
// Events as they happen: server-sent events, as the HTML standard has them.

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "smd/api/event_view.h"
#include "smd/api/request.h"

namespace smd::api {

/// Which events.
struct EventsWanted {
  std::optional<std::string> subnet{};  ///< nothing: of all that the caller sees
  std::optional<std::size_t> limit{};   ///< of an answer; of a stream: of the latest ones that it begins with
  std::optional<events::EventId> after{};
  std::string match{};                                          ///< a pattern of names; empty: all
  std::optional<std::chrono::system_clock::time_point> from{};  ///< what happened before is not meant

  /// Whether a name fits `match`; empty: all do. It is good as long as this is.
  std::function<bool(std::string_view)> named() const;
};

/// Lists for which a tenant's searches are remembered: query_of(), EventView::query().
inline constexpr std::string_view kEventList = "events", kLatestEvent = "latest event";
/// The search for what is wanted of what the caller sees, from its cursor on; good as long as both are.
/// `list`: which one it is, where a tenant's searches are to be remembered; empty: they are not.
store::EventQuery query_of(const EventsWanted& wanted, const EventView& view, std::string_view list = {});

/// Whether something is missing after the client's cursor: after a tenant's "nothing so far" nothing is.
bool is_gap(const store::EventsFound& found, const std::optional<events::EventId>& after, bool is_tenant);

class EventStream final : public Stream {
 public:
  /// `request` is that of a caller who may see the events; the backend outlives the stream.
  EventStream(EventsWanted wanted, Request request, Backend& backend);

  /// Ends within a call when the caller may not see the events any more.
  std::optional<std::string> next(std::int64_t now, bool quiet) override;

 private:
  bool may_see(const access::Access& access) const;
  events::EventId cursor(const EventView& view) const;
  events::EventId start(const EventView& view, events::EventId last);
  std::string frames(const std::deque<events::EventPtr>& events, const EventView& view);
  store::EventsFound latest(const EventView& view) const;
  std::string begin(const EventView& view);
  std::string more(const EventView& view);

  EventsWanted wanted_;
  Request request_;
  Backend& backend_;
  bool begun_ = false;
  events::EventId sent_{};  ///< the latest event that the client has got, or would have; once begun_
};

}  // namespace smd::api
