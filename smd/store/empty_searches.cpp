// SPDX-License-Identifier: Apache-2.0
#include "smd/store/empty_searches.h"

#include <algorithm>

namespace smd::store {
namespace {

constexpr std::size_t kMostKept = 1'000;

}  // namespace

events::EventId EmptySearches::end_of(const std::string& asker, events::EventId after) {
  if (asker.empty()) return after;
  const std::scoped_lock lock(mutex_);
  const auto at = rows_.find({asker, after});
  if (at == rows_.end()) return after;
  at->second.used = ++uses_;
  return at->second.end;
}

void EmptySearches::keep(const std::string& asker, events::EventId after, events::EventId end) {
  if (asker.empty()) return;
  const std::scoped_lock lock(mutex_);
  rows_[{asker, after}] = {.end = end, .used = ++uses_};
  if (rows_.size() <= kMostKept) return;
  rows_.erase(std::ranges::min_element(rows_, {}, [](const auto& row) { return row.second.used; }));
}

}  // namespace smd::store
