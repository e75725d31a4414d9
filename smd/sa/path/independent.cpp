// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/path/independent.h"

#include <algorithm>

namespace smd::sa {

void IndependentPaths::add(const wire::PathRecord& record, std::vector<Step> steps) {
  const auto shared =
      std::ranges::count_if(steps, [this](const Step& step) { return used_.contains(out_of(step)); });
  candidates_.push_back(
      {.record = record, .steps = std::move(steps), .shared = static_cast<std::size_t>(shared)});
}

/// Only links that become used by this choice change what the others share.
std::optional<wire::PathRecord> IndependentPaths::choose() {
  Candidate* best = nullptr;
  for (auto& one : candidates_) {
    if (!one.chosen && (best == nullptr || one.shared < best->shared)) best = &one;
  }
  if (best == nullptr) return std::nullopt;
  best->chosen = true;
  std::vector<Step> fresh;
  for (const auto& step : best->steps) {
    if (used_.insert(out_of(step)).second) fresh.push_back(step);
  }
  for (auto& one : candidates_) {
    if (one.chosen || fresh.empty()) continue;
    one.shared += static_cast<std::size_t>(std::ranges::count_if(
        one.steps, [&](const Step& step) { return std::ranges::find(fresh, step) != fresh.end(); }));
  }
  return best->record;
}

}  // namespace smd::sa
