// SPDX-License-Identifier: Apache-2.0
#pragma once
// What two ports may say to each other, and how: the one place that partitions and QoS answer through.

#include <cstdint>
#include <optional>

#include "mad/base/id.h"
#include "smd/sa/directory.h"

namespace smd::sa {

/// On which terms a path is given.
struct PathTerms {
  PKey pkey;  ///< as it was asked for, else as the source's table has it
  Sl sl;
};

/// What a client asked for beside the two ends.
struct PathWish {
  std::optional<PKey> pkey;
  std::optional<std::uint16_t> qos_class;
  std::optional<std::uint64_t> service_id;
};

/// Whether two ports have a P_Key in common, one of them at least as full member. A port whose table is
/// empty, or null (not known), has something in common with all.
bool share_pkey(const sm::PKeyRows* a, const sm::PKeyRows* b);

class Policy {
 public:
  /// Nothing: the two share no partition (or not the one wished for), and one of them as full member.
  std::optional<PathTerms> path(const Directory& directory, const EndPort& source, const EndPort& destination,
                                Lid dlid, const PathWish& wish) const;
};

}  // namespace smd::sa
