// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many SMPs have reached the management agents, by attribute and method.

#include <array>
#include <cstdint>
#include <vector>

namespace smd::sim {

struct SmpCount {
  std::uint16_t attribute = 0;
  std::uint64_t gets = 0, sets = 0;
  friend bool operator==(const SmpCount&, const SmpCount&) = default;
};

/// SMPs by attribute; all attributes without a slot of their own share one.
class SmpCounts {
 public:
  /// Counts one SMP; gets() and sets() are those of one attribute, or of all.
  void count(std::uint16_t attribute, bool set) { ++slots_[slot(attribute)][set ? 1 : 0]; }
  std::uint64_t gets(std::uint16_t attribute) const { return slots_[slot(attribute)][0]; }
  std::uint64_t sets(std::uint16_t attribute) const { return slots_[slot(attribute)][1]; }
  std::uint64_t gets() const { return sum(0); }
  std::uint64_t sets() const { return sum(1); }
  std::uint64_t total() const { return sum(0) + sum(1); }
  /// All counts are 0 again.
  void clear() { slots_ = {}; }
  /// Attributes that were asked for, ascending; 0xFFFF stands for all that have no slot of their own.
  std::vector<SmpCount> all() const;

 private:
  // Standard attributes each have a slot, then the vendor's known ones, then all others together.
  static constexpr std::size_t kStandard = 0x40, kArInfo = kStandard, kMlnxExtPortInfo = kStandard + 1,
                               kOthers = kStandard + 2;
  static constexpr std::size_t slot(std::uint16_t attribute) {
    if (attribute < kStandard) return attribute;
    if (attribute == 0xFF20) return kArInfo;
    return attribute == 0xFF90 ? kMlnxExtPortInfo : kOthers;
  }
  std::uint64_t sum(std::size_t method) const;

  std::array<std::array<std::uint64_t, 2>, kOthers + 1> slots_{};
};

}  // namespace smd::sim
