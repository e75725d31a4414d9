// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which unicast LIDs are free.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "mad/base/id.h"

namespace smd::sm::inline decisions {

class LidSpace {
 public:
  /// LIDs are handed out in [first, last]; taken ones may lie anywhere.
  LidSpace(Lid first, Lid last)
      : taken_(kLastUnicastLid.value() + 1U), first_(first.value()), last_(last.value()) {
    taken_[0] = true;
  }

  /// Whether all of [base, base + count) are unicast LIDs that are not taken.
  bool free(unsigned base, unsigned count) const {
    if (base == 0 || base + count - 1 > kLastUnicastLid.value()) return false;
    for (unsigned lid = base; lid < base + count; ++lid) {
      if (taken_[lid]) return false;
    }
    return true;
  }
  /// All of [base, base + count), taken before or not, up to 0xBFFF.
  void take(unsigned base, unsigned count) {
    for (unsigned lid = base; lid < base + count; ++lid) taken_[lid] = true;
  }

  /// The lowest free run of `count` LIDs that starts at a multiple of `align`, within [from, to].
  std::optional<unsigned> find(unsigned count, unsigned align, unsigned from, unsigned to) const {
    for (unsigned base = (from + align - 1) / align * align; base + count - 1 <= to; base += align) {
      if (free(base, count)) return base;
    }
    return std::nullopt;
  }
  /// LIDs that can still be handed out.
  std::size_t free_count() const {
    std::size_t count = 0;
    for (unsigned lid = first_; lid <= last_; ++lid) count += taken_[lid] ? 0 : 1;
    return count;
  }
  unsigned first() const { return first_; }
  unsigned last() const { return last_; }

 private:
  std::vector<bool> taken_;
  unsigned first_, last_;
};

}  // namespace smd::sm::inline decisions
