// SPDX-License-Identifier: Apache-2.0
#pragma once
// What searches for the latest events have found that had to read the file: of a tenant, whose events are
// few, all of it. The next one reads what has come since.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "smd/events/event.h"

namespace smd::store {

/// Any thread. The latest hundred, of 10,000 events in all.
class LatestSearches {
 public:
  struct Found {
    events::EventId end{};                  ///< all up to there were looked at
    std::deque<events::EventPtr> events{};  ///< oldest first
  };
  /// What the asker has found with this limit; nothing: it has not asked, or that was long ago.
  std::optional<Found> of(const std::string& asker, std::size_t limit);
  /// An empty text is no asker.
  void keep(const std::string& asker, std::size_t limit, Found found);

 private:
  struct Row {
    Found found{};
    std::uint64_t used = 0;  ///< the greater the later
  };
  std::mutex mutex_;
  std::map<std::pair<std::string, std::size_t>, Row> rows_;
  std::size_t events_ = 0;  ///< of all rows
  std::uint64_t uses_ = 0;
};

}  // namespace smd::store
