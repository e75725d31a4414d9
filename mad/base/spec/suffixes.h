// SPDX-License-Identifier: Apache-2.0
#pragma once
// What may follow any spec: "+guids=1+an+cut=5:2". docs/simulator.md ('Suffixes') defines each of them.

#include <array>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mad/base/fabric.h"

namespace smd::base::spec {

/// As they are written, for help texts and errors.
inline constexpr std::array<std::string_view, 4> kSuffixes{"+an", "+cut=PERCENT:SEED", "+speeds=A,B,…:SEED",
                                                           "+guids=SEED"};

struct Cut {
  std::uint32_t thousandths = 0;  ///< of a percent of the cables between switches: 0 to 100,000
  std::uint64_t seed = 0;
  friend bool operator==(const Cut&, const Cut&) = default;
};

struct Speeds {
  std::vector<LinkSpeed> speeds;  ///< one or more
  std::uint64_t seed = 0;
  friend bool operator==(const Speeds&, const Speeds&) = default;
};

/// The suffixes of a spec. They act in the order of the members, in whatever order they were written.
struct Suffixes {
  bool aggregation_nodes = false;
  std::optional<Cut> cut;
  std::optional<Speeds> speeds;
  std::optional<std::uint64_t> guids;  ///< the seed
  friend bool operator==(const Suffixes&, const Suffixes&) = default;
};

/// `text` is empty or starts with '+'. Each suffix at most once. The error is a text without the spec.
std::expected<Suffixes, std::string> parse_suffixes(std::string_view text);

/// The plain fabric of a spec with its suffixes. Fails with a text if aggregation nodes do not fit: ports of
/// a switch, LIDs. The same input gives the same fabric on every machine.
std::expected<Fabric, std::string> with_suffixes(Fabric plain, const Suffixes& suffixes);

// The single steps of with_suffixes().
/// Each switch gets a CA "Mellanox Technologies Aggregation Node" at the port behind its external ones.
std::expected<Fabric, std::string> with_aggregation_nodes(Fabric fabric);
/// Without a share of the cables between switches, rounded; at least one if the share is not 0.
Fabric with_cut(const Fabric& fabric, const Cut& cut);
/// Each cable between switches at one of the speeds, all equally likely.
Fabric with_speeds(Fabric fabric, const Speeds& speeds);
/// New GUIDs and ids for all nodes; nodes in the order in which a program on one of the hosts meets them.
Fabric with_random_guids(const Fabric& fabric, std::uint64_t seed);

}  // namespace smd::base::spec
