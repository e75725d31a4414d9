// SPDX-License-Identifier: Apache-2.0
#pragma once
// Named events from before the start until now: those of the ring, and behind them those of a file.

#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "smd/events/ring.h"
#include "smd/log/log.h"
#include "smd/store/empty_searches.h"
#include "smd/store/event_file.h"
#include "smd/store/latest_searches.h"

namespace smd::store {

struct EventQuery {
  /// The first `limit` events that follow this id; nothing: the latest `limit` ones.
  std::optional<events::EventId> after{};
  std::size_t limit = 100;
  std::optional<std::string> subnet{};                          ///< nothing: of all, and of the process
  std::optional<std::chrono::system_clock::time_point> from{};  ///< what happened before does not count
  /// Whether events of that name count. Empty: all do. Cheaper than `wanted`: others are not read whole.
  std::function<bool(std::string_view)> named{};
  /// Of the latest ones of such names: so many are looked at.
  std::size_t most = std::numeric_limits<std::size_t>::max();
  /// Of the file those that may be about these: `wanted` is not asked about others, where that saves reading
  /// them.
  std::optional<AboutPartitions> about{};
  /// Whether an event counts; its payload is a NamedLogEvent. Empty: all do.
  std::function<bool(const events::Event&)> wanted{};
  /// All that decides which events count, but for `after` and `limit`, and without `from`: a search with the
  /// same text is spared what was looked at where it finds nothing after an id, or the latest ones again.
  /// Empty: that is not remembered.
  std::string asker{};
};

struct EventsFound {
  std::deque<events::EventPtr> events{};  ///< oldest first; NamedLogEvents
  events::EventId next{};                 ///< where to go on: all up to this id were looked at
  bool gap = false;                       ///< some that follow `after` are not kept any more
  bool more = false;                      ///< the limit was reached
};

struct EventLogOptions {
  std::size_t most = 100'000;  ///< events of the file
  /// Between two transactions: what the end of the process may take, as none waits for the disk.
  std::chrono::milliseconds batch = std::chrono::milliseconds(50);
  std::chrono::milliseconds retry = std::chrono::seconds(10);  ///< of what could not be written
};

/// Any thread.
class EventLog {
 public:
  /// Of the ring alone, which outlives it.
  explicit EventLog(events::EventRing& ring) : ring_(ring) {}
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;
  /// What is in the ring is written first.
  ~EventLog();

  /// Keeps events in events.db of this folder from now on, and knows those that are there. Where the file
  /// cannot be used that is one line in the log, and tried again. Once; before find().
  void open(const std::filesystem::path& directory, log::Log log, EventLogOptions options = {});

  /// Events of the ring and of the file that `query` means. Reads the disk where the ring does not have them;
  /// what cannot be read is a gap.
  EventsFound find(const EventQuery& query);
  /// The id of the latest event, named or not.
  events::EventId last() const { return ring_.extent().last; }

  /// How far a receiver of events has got; nothing: it is a new one. Without a file in memory only.
  std::optional<events::EventId> position(const std::string& receiver);
  /// Keeps it, in the file at once where there is one. An error is one line in the log; position() returns it
  /// all the same.
  void set_position(const std::string& receiver, events::EventId at);
  /// Forgets all other receivers.
  void keep_positions(const std::vector<std::string>& receivers);

 private:
  struct Known {
    bool epoch = false;                           ///< that of `after`
    std::optional<events::EventId> first_kept{};  ///< of the file
  };
  Known known(const events::EventRing::Extent& held, std::uint64_t epoch);
  void find_after(const EventQuery& query, EventsFound& found);
  bool find_in_file(const EventQuery& query, events::EventId after, events::EventId before,
                    EventsFound& found);
  bool find_in_ring(const EventQuery& query, events::EventId after, const events::EventRing::Extent& held,
                    EventsFound& found);
  void find_latest(const EventQuery& query, EventsFound& found);
  bool find_since(const EventQuery& query, LatestSearches::Found kept, EventsFound& found);
  bool look_back(const EventQuery& query, EventsFound& found);
  std::vector<events::EventPtr> all_of_ring(const EventQuery& query);

  bool make_file(std::optional<EventFile>& file);
  void work(const std::stop_token& stop);
  bool write(std::vector<events::EventPtr>& waiting);
  void failed(const std::string& reason);
  void say(const SqlResult<void>& kept) const;

  events::EventRing& ring_;
  EmptySearches empty_searches_;
  LatestSearches latest_searches_;
  std::filesystem::path path_;
  log::Log log_;
  EventLogOptions options_;
  std::mutex mutex_;               ///< of file_ and positions_
  std::optional<EventFile> file_;  ///< for questions
  std::map<std::string, events::EventId> positions_;
  std::optional<EventFile> writes_;  ///< the thread's
  bool failed_ = false;              ///< the same: it was said
  std::mutex wake_mutex_;
  std::condition_variable_any wake_;
  bool woken_ = false;
  std::optional<events::Reader> reader_;  ///< the thread's
  std::jthread thread_;
};

}  // namespace smd::store
