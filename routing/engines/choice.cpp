// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/choice.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace smd::routing {
namespace {
/// Long enough that most rows are copied in few pieces.
constexpr std::size_t kPattern = 512;
}  // namespace

void Candidates::reset(const Topology& topology, SwitchIndex s, const GroupSet& set) {
  ports_.clear();
  pattern_.clear();
  groups_.clear();
  for (std::size_t w = 0; w < set.words.size(); ++w) {
    for (auto word = set.words[w]; word != 0; word &= word - 1) {
      groups_.push_back(topology.group(s, w * 64 + static_cast<std::size_t>(std::countr_zero(word))));
    }
  }
  bool more = true;
  for (std::size_t turn = 0; more; ++turn) {
    more = false;
    for (const auto& group : groups_) {
      if (group.ports.size() > turn) ports_.push_back(group.ports[turn].value());
      more = more || group.ports.size() > turn + 1;
    }
  }
}

void Candidates::write_pattern(std::span<std::uint8_t> out, std::size_t phase) {
  const std::size_t n = ports_.size();
  if (pattern_.empty()) {
    while (pattern_.size() < kPattern + n) pattern_.insert(pattern_.end(), ports_.begin(), ports_.end());
  }
  const std::size_t whole = pattern_.size() / n * n - n;  // a multiple of n that is there from any phase
  while (!out.empty()) {
    const std::size_t length = std::min(out.size(), whole);
    std::memcpy(out.data(), pattern_.data() + phase, length);
    out = out.subspan(length);
  }
}

void Candidates::write_turns(std::span<std::uint8_t> out, std::uint32_t number, std::uint32_t divider) {
  if (ports_.size() == 1) {
    std::ranges::fill(out, ports_[0]);
    return;
  }
  const auto n = static_cast<std::uint32_t>(ports_.size());
  if (divider == 1) {
    write_pattern(out, number % n);
    return;
  }
  std::uint32_t turn = number / divider;
  std::size_t same = divider - (number - turn * divider);
  turn %= n;
  while (!out.empty()) {
    const std::size_t length = std::min(out.size(), same);
    std::memset(out.data(), ports_[turn], length);
    out = out.subspan(length);
    same = divider;
    turn = turn + 1 == n ? 0 : turn + 1;
  }
}

void LeastUsed::write(std::span<std::uint8_t> out, std::span<const std::uint8_t> ports, bool of_switch) {
  auto& used = used_[of_switch ? 1 : 0];
  for (auto& entry : out) {
    std::size_t best = turn_++ % ports.size();
    for (std::size_t i = 1, at = best; i < ports.size(); ++i) {
      at = at + 1 == ports.size() ? 0 : at + 1;
      if (used[ports[at]] < used[ports[best]]) best = at;
    }
    entry = ports[best];
    ++used[entry];
  }
}

}  // namespace smd::routing
