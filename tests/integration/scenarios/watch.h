// SPDX-License-Identifier: Apache-2.0
#pragma once
// Looks at a simulated fabric after every Set that a node has served, and notes what must never be, even for
// an instant: two ports with one LID, packets that go in a circle, a pair that loses a path which had not
// died, a working link taken down, a LID changed without need.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "mad/sim/fabric/fabric.h"

namespace smd::test {

class Watch {
 public:
  /// The fabric outlives the watch; nobody else watches its Sets.
  explicit Watch(sim::Fabric& fabric);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch();

  /// Something else than a Set has changed the fabric: what was lost so counts for nobody.
  void look_again();
  /// What happens to this node is not held against the SM: a fault has touched its identity.
  void excuse(sim::NodeIndex node) { excused_.insert(node); }

  /// A sentence for each thing that must not be; the first few of them.
  const std::vector<std::string>& broken() const { return broken_; }
  /// Pairs of hosts that lost a path which had not died, in the same form.
  const std::vector<std::string>& lost_paths() const { return lost_paths_; }
  std::uint64_t sets() const { return sets_; }
  std::uint64_t entries_checked() const { return entries_; }

 private:
  using Row = std::vector<std::uint8_t>;
  /// What an entry was before the Sets that are going on now.
  struct Earlier {
    sim::TimePoint until{};  ///< the first Set that changed it since
    std::uint8_t port = 0;
  };

  void served(const sim::DoneSet& set);
  void tables_changed(sim::NodeIndex sw);
  void entry_changed(sim::NodeIndex sw, Lid lid, std::uint8_t before);
  void port_changed(sim::PortIndex port);
  void lid_changed(sim::PortIndex end_port, Lid before);
  void link_became_active(sim::PortIndex port);
  bool fits(Lid lid) const;

  Row effective(sim::NodeIndex sw) const;
  bool active(sim::PortIndex port) const;
  /// The port behind which the packet is next; kNowhere: it goes no further.
  sim::PortIndex next(sim::NodeIndex sw, Lid lid, std::uint8_t out) const;
  bool circles(sim::NodeIndex from, Lid lid) const;
  bool is_mute(sim::NodeIndex sw) const;
  bool out_of_hand(sim::NodeIndex sw) const;
  bool passes_out_of_hand(sim::NodeIndex from, Lid lid, std::uint8_t out) const;
  /// The end port that a packet reaches which leaves `from` by `out`.
  sim::PortIndex end_of(sim::NodeIndex from, Lid lid, std::uint8_t out) const;
  std::uint8_t settled(sim::NodeIndex sw, Lid lid) const;
  bool had_a_path(sim::NodeIndex from, Lid lid, sim::PortIndex to) const;
  bool on_the_way_of_a_host(sim::NodeIndex sw, Lid lid, sim::PortIndex to) const;
  std::vector<sim::PortIndex> holders(Lid lid) const;
  void note(std::vector<std::string>& where, const std::string& what) const;
  const std::string& name(sim::NodeIndex node) const { return state_.nodes[node].name; }

  sim::Fabric& fabric_;
  const sim::State& state_;
  std::vector<Row> rows_;  ///< by node: what it forwards by
  std::vector<std::map<Lid, Earlier>> earlier_;
  std::vector<bool> was_active_;  ///< by port
  std::vector<Lid> lids_;         ///< by port
  std::set<sim::NodeIndex> excused_;
  std::set<sim::NodeIndex> out_of_hand_;                 ///< when look_again() was called last
  std::map<sim::NodeIndex, sim::TimePoint> back_since_;  ///< that were so before
  std::vector<std::string> broken_, lost_paths_;
  std::uint64_t sets_ = 0, entries_ = 0;
};

}  // namespace smd::test
