// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where searches ended that found nothing: a tenant's cursor stays where its latest event is, and what
// follows is looked at once instead of at each of its polls.

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "smd/events/event.h"

namespace smd::store {

/// Any thread. The latest thousand.
class EmptySearches {
 public:
  /// From where the asker looks on who has nothing to find from `after` up to there; `after` where that is
  /// not known.
  events::EventId end_of(const std::string& asker, events::EventId after);
  /// Nothing from `after` up to `end` is for the asker. An empty text is none.
  void keep(const std::string& asker, events::EventId after, events::EventId end);

 private:
  struct Row {
    events::EventId end{};
    std::uint64_t used = 0;  ///< the greater the later
  };
  std::mutex mutex_;
  std::map<std::pair<std::string, events::EventId>, Row> rows_;
  std::uint64_t uses_ = 0;
};

}  // namespace smd::store
