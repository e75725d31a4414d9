// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/lost_subscribers.h"

#include <algorithm>
#include <set>

namespace smd::sa {

void LostSubscribers::lost(Guid port, mad::TimePoint now) {
  ports_.try_emplace(port, Wait{.next = std::max(now, pace_.due(port)), .last = {}});
}

void LostSubscribers::heard(Guid port, mad::TimePoint now) {
  const auto found = ports_.find(port);
  if (found == ports_.end()) return;
  auto& wait = found->second;
  const auto soon = wait.last == mad::TimePoint{} ? now : std::max(now, wait.last + kFirst);
  wait.next = std::min(wait.next, std::max(soon, pace_.due(port)));
}

std::vector<Guid> LostSubscribers::due(mad::TimePoint now, std::size_t most) {
  std::vector<Guid> found;
  for (auto& [port, wait] : ports_) {
    if (found.size() >= most) break;
    if (wait.next > now) continue;
    wait.last = now;
    wait.next = now + wait.wait;
    wait.wait = std::min(2 * wait.wait, kLongest);
    found.push_back(port);
  }
  return found;
}

void LostSubscribers::asked(std::span<const Guid> ports, mad::TimePoint now) {
  for (const auto port : ports) {
    if (ports_.erase(port) != 0) pace_.looked(port, now);
  }
}

void LostSubscribers::forget(std::span<const Guid> ports) {
  for (const auto port : ports) ports_.erase(port);
}

std::vector<Guid> LostSubscribers::ports_except(std::span<const Guid> due) const {
  const std::set<Guid> left_out(due.begin(), due.end());
  std::vector<Guid> all;
  for (const auto& [port, wait] : ports_) {
    if (!left_out.contains(port)) all.push_back(port);
  }
  return all;
}

}  // namespace smd::sa
