// SPDX-License-Identifier: Apache-2.0
#include "smd/store/latest_searches.h"

#include <algorithm>

namespace smd::store {
namespace {

constexpr std::size_t kMostLatest = 100, kMostLatestEvents = 10'000;

}  // namespace

std::optional<LatestSearches::Found> LatestSearches::of(const std::string& asker, std::size_t limit) {
  if (asker.empty()) return std::nullopt;
  const std::scoped_lock lock(mutex_);
  const auto at = rows_.find({asker, limit});
  if (at == rows_.end()) return std::nullopt;
  at->second.used = ++uses_;
  return at->second.found;
}

void LatestSearches::keep(const std::string& asker, std::size_t limit, Found found) {
  if (asker.empty()) return;
  const std::scoped_lock lock(mutex_);
  auto& row = rows_[{asker, limit}];
  events_ -= row.found.events.size();
  events_ += found.events.size();
  row = {.found = std::move(found), .used = ++uses_};
  while (rows_.size() > kMostLatest || events_ > kMostLatestEvents) {
    const auto oldest = std::ranges::min_element(rows_, {}, [](const auto& one) { return one.second.used; });
    events_ -= oldest->second.found.events.size();
    rows_.erase(oldest);
  }
}

}  // namespace smd::store
