// SPDX-License-Identifier: Apache-2.0
#pragma once
// The paths between pairs of ports that meet what a question asks.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "mad/wire/sa/path_record.h"
#include "smd/registry/registry.h"
#include "smd/sa/directory.h"
#include "smd/sa/path/limits.h"
#include "smd/sa/path/trace.h"
#include "smd/sa/policy.h"
#include "smd/sa/search.h"
#include "smd/sa/settings.h"
#include "smd/sa/viewer.h"

namespace smd::sa {

/// Longest answer that is made, in bytes. A question for all paths of a large fabric at once is refused with
/// kSaNoResources: the answer is too long for any requester.
inline constexpr std::size_t kLongestAnswer = std::size_t{16} << 20U;

/// LID pairs that one question looks at, whatever it finds; then it is refused with kSaNoResources.
inline constexpr std::size_t kMostLidPairs = std::size_t{4} << 20U;

/// Work of a LID pair in a Slice: both its ways are followed through the tables.
inline constexpr std::size_t kPathWork = 8;

/// What paths are made of.
struct PathContext {
  const Directory& directory;
  const Registry& registry;  ///< alias GUIDs
  const Settings& settings;  ///< lifetime, the highest rate, routers to other subnets
  Viewer viewer{};           ///< who asks
};

/// The question, taken apart.
struct PathQuery {
  PathConstraints constraints{};
  std::optional<Limit<Mtu>> mtu{};
  std::optional<Limit<std::uint8_t>> rate{}, life{};
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

/// All that paths begin at, or end at: the ports of one end, or the first port of each of several.
struct PathSide {
  PathEnds one;
  std::vector<PathEnds> several{};  ///< instead of `one`, unless empty
  std::size_t size() const { return several.empty() ? one.ports.size() : several.size(); }  ///< ports
  /// `at` is below size().
  const PathEnds& end(std::size_t at) const { return several.empty() ? one : several[at]; }
  /// The port itself. `at` is below size().
  const EndPort& port(std::size_t at) const {
    return several.empty() ? one.ports[at] : several[at].ports.front();
  }
};

class IndependentPaths;

/// From each port of one side to each of the other, as the records of one answer.
class PathSearch {
 public:
  /// What `context` names outlives it.
  PathSearch(const PathContext& context, PathQuery query, PathSide from, PathSide to);
  PathSearch(const PathSearch&) = delete;
  PathSearch& operator=(const PathSearch&) = delete;
  ~PathSearch();
  /// Pairs of ports that are looked at before the question is refused.
  void look_at_most(std::size_t pairs) { most_pairs_ = pairs; }

  /// False: the slice is over, and there is more to do.
  bool go_on(Slice& slice);

  /// kSaNoResources: the answer would be too long, or too much was looked at.
  std::uint16_t status() const { return status_; }
  std::size_t count() const { return records_.count() + (first_ ? 1 : 0); }  ///< records so far
  std::size_t bytes() const { return records_.bytes(); }
  const std::optional<wire::PathRecord>& first() const { return first_; }  ///< where the query wants `one`
  /// The records without first(); to be called once, when the search has ended.
  Records take() { return std::move(records_); }
  const PathSide& from() const { return from_; }
  const PathSide& to() const { return to_; }

 private:
  bool ended() const;
  void begin_pair(Slice& slice);
  bool look_at_pair(Slice& slice);
  bool choose_independent(Slice& slice);
  bool wants_more() const;
  void keep(const wire::PathRecord& record);
  std::uint8_t life(const PathParameters& terms) const;
  bool is_shown(const EndPort& from, const EndPort& to) const;
  std::optional<PathParameters> terms_of_way_back() const;
  bool has_policy() const;
  /// What a record says of a way.
  struct Offer {
    Mtu mtu{};
    StaticRate rate{};
  };
  std::optional<Offer> offer(Way way, const PathParameters& terms) const;
  bool grants_way_back(const Way& way, Lid slid) const;
  std::optional<wire::PathRecord> path(Lid slid, Lid dlid, std::vector<Step>* steps) const;

  PathContext context_;
  PathQuery query_;
  PathSide from_, to_;
  std::size_t most_pairs_ = static_cast<std::size_t>(-1), pairs_ = 0, lid_pairs_ = 0;
  std::size_t from_at_ = 0, to_at_ = 0;
  unsigned lid_at_ = 0, found_ = 0;  ///< of the pair in hand, `found_` with `of_all` of all pairs
  bool in_pair_ = false;
  std::optional<PathParameters> terms_;  ///< of the pair in hand
  std::optional<PathParameters> back_;   ///< of its way back, where QoS decides on that too
  std::unique_ptr<IndependentPaths> independent_;
  std::optional<wire::PathRecord> first_;
  Records records_;
  std::uint16_t status_ = wire::kStatusOk;
};

}  // namespace smd::sa
