// SPDX-License-Identifier: Apache-2.0
#pragma once
// Of many paths those that share the fewest links.

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "mad/wire/sa/path_record.h"
#include "smd/sa/path/trace.h"

namespace smd::sa {

/// Candidates for one answer. Records and links are copied.
class IndependentPaths {
 public:
  /// `steps`: the links of the path in its order.
  void add(const wire::PathRecord& record, std::vector<Step> steps);
  /// The one that shares the fewest links with all that were chosen before, of those the first that was
  /// added; nothing where none is left. Takes as long as there are candidates.
  std::optional<wire::PathRecord> choose();
  /// Those that choose() can still return.
  std::size_t candidates() const { return candidates_.size(); }
  /// Forgets the candidates; the links of those that were chosen stay used.
  void clear() { candidates_.clear(); }

 private:
  struct Candidate {
    wire::PathRecord record;
    std::vector<Step> steps;
    std::size_t shared = 0;  ///< of its links those that are used
    bool chosen = false;
  };
  using OutPort = std::pair<const sm::Node*, PortNum>;  ///< names one direction of a link
  static OutPort out_of(const Step& step) { return {step.from, step.out}; }

  std::vector<Candidate> candidates_;
  std::set<OutPort> used_;
};

}  // namespace smd::sa
