// SPDX-License-Identifier: Apache-2.0
#pragma once
// The paths between pairs of ports that meet what a question asks.

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "mad/wire/sa/path_record.h"
#include "smd/sa/directory.h"
#include "smd/sa/path/limits.h"
#include "smd/sa/path/walk.h"
#include "smd/sa/policy.h"
#include "smd/sa/registry/registry.h"
#include "smd/sa/settings.h"

namespace smd::sa {

/// Longest answer that is made, in bytes. A question for all paths of a large fabric at once is refused with
/// kSaNoResources: nobody could take the answer.
inline constexpr std::size_t kLongestAnswer = std::size_t{16} << 20U;

/// What paths are made of.
struct PathGround {
  const Directory& directory;
  const Registry& registry;  ///< alias GUIDs
  const Settings& settings;  ///< lifetime, the highest rate, routers to other subnets
};

/// The question, taken apart.
struct PathQuery {
  PathWish wish{};
  std::optional<Limit<Mtu>> mtu{};
  std::optional<Limit<std::uint8_t>> rate{}, life{};
  std::optional<Sl> sl{};
  std::optional<Lid> slid{}, dlid{};
  bool reversible = false;   ///< a way back is needed
  bool independent = false;  ///< paths are to share no links, where that can be
  bool one = false;          ///< the first is enough
  bool of_all = false;       ///< `paths` are of all pairs together
  unsigned paths = 1;        ///< of one pair of ports, at most
};

/// One end of the paths; none of it named: every end port.
struct PathEnds {
  std::span<const EndPort> ports{};
  std::optional<Gid> name{};  ///< as it was asked for, where that is not the port's own GID
  bool elsewhere = false;     ///< it is in another subnet, behind this port
};

/// Paths as the records of one answer, in the order in which the pairs are added.
class PathSearch {
 public:
  /// Both outlive it.
  PathSearch(const PathGround& ground, const PathQuery& query) : ground_(ground), query_(query) {}

  /// The names that records show instead of the ports' own.
  void set_names(const PathEnds& from, const PathEnds& to);

  /// The paths of one pair; false: the answer would be longer than kLongestAnswer.
  bool add(const EndPort& from, const EndPort& to);

  std::size_t count() const { return records_; }
  const wire::PathRecord& first() const { return first_; }  ///< where the query wants `one`
  std::vector<std::uint8_t> take() { return std::move(bytes_); }

 private:
  unsigned found_before() const;
  bool put(const wire::PathRecord& record);
  bool add_independent(const EndPort& from, const EndPort& to);
  std::uint8_t life_of(const EndPort& from, const EndPort& to) const;
  std::optional<wire::PathRecord> path(const EndPort& from, const EndPort& to, Lid slid, Lid dlid,
                                       std::vector<Step>* steps) const;

  const PathGround& ground_;
  const PathQuery& query_;
  std::optional<Gid> from_name_, to_name_;
  bool elsewhere_ = false;
  std::vector<Step> used_;
  wire::PathRecord first_;
  std::vector<std::uint8_t> bytes_;
  std::size_t records_ = 0;
};

}  // namespace smd::sa
