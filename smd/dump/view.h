// SPDX-License-Identifier: Apache-2.0
#pragma once
// What every dump asks for, looked up once: whose a LID is, which table a switch has.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "mad/base/fabric.h"
#include "mad/base/id.h"
#include "routing/parallel.h"
#include "routing/routes.h"
#include "smd/decide/decided.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline dumps {

/// Rates of ports that the file names by an unknown word ("4xFOO"): they are written as they were.
using ForeignRates = std::map<std::pair<Guid, PortNum>, base::LinkRate>;
/// Of all ports of the file whose rate has such a word.
ForeignRates foreign_rates(const base::Fabric& fabric);

/// Whether tables show where a switch does not hold (yet) what was decided, because Sets failed or are under
/// way.
enum class Marks : std::uint8_t { none, not_written };

/// Refers to the Subnet and the Decided that it was made from; they must outlive it.
class DumpView {
 public:
  /// Finds the switches, their neighbours and the owner of each LID.
  DumpView(const Subnet& subnet, const Decided& decided, ForeignRates rates = {}, Marks marks = Marks::none);

  static constexpr std::size_t kNoSwitch = static_cast<std::size_t>(-1);
  struct Owner {
    const Node* node = nullptr;  ///< null: no port has the LID
    PortNum port;
    std::size_t leaf = kNoSwitch;  ///< index into switches(): itself, or the switch that a CA is connected to
  };
  struct Switch {
    const Node* node = nullptr;
    const routing::LftRow* row = nullptr;  ///< may be null, and shorter than top()
    std::vector<std::size_t> behind;       ///< by port: index into switches() of the neighbour, or kNoSwitch
  };

  const Subnet& subnet() const { return subnet_; }
  Marks marks() const { return marks_; }
  /// There must be a decision on LIDs.
  const LidPart& lids() const { return *decided_.lids; }
  const std::vector<Switch>& switches() const { return switches_; }  ///< ascending GUID
  /// There must be a decision on routes.
  const RoutePart& routes() const { return *decided_.routes; }
  /// Index into switches(); kNoSwitch if there is none with this GUID.
  std::size_t switch_index(Guid node) const;
  /// LinearFDBTop of every switch, as lids() has it.
  Lid top() const { return decided_.lids->top; }
  /// The multicast table as decided, else as the switch holds it; null: empty.
  const routing::McRow* multicast_row(const Node& node) const;
  /// An Owner without a node where no port has the LID, or it is above all.
  const Owner& owner(Lid lid) const;
  /// Base LID and LMC of an end port as decided, else as the port says (0: none). For any port of a switch
  /// those of its port 0.
  LidPart::Entry lid(const Node& node, PortNum port) const;
  /// As decided, of packets from one port to another of the node with this index; null where nothing is.
  const wire::SlToVl* sl_to_vl(std::size_t node, PortNum in, PortNum out) const {
    return decided_.qos_tables ? decided_.qos_tables->mapping(node, in, out) : nullptr;
  }
  /// The SL on the wire of paths in a layer, of the class of those without another one.
  Sl path_sl(unsigned layer) const {
    const auto* sls = decided_.service_levels.get();
    return sls != nullptr ? wire_sl(sls, sls->classes.front(), layer) : Sl{static_cast<std::uint8_t>(layer)};
  }
  /// Active width and speed, or what the file had.
  base::LinkRate rate(const Node& node, PortNum port) const;

 private:
  void find_switches();
  void find_owners();

  const Subnet& subnet_;
  const Decided& decided_;
  ForeignRates rates_;
  Marks marks_;
  std::vector<Switch> switches_;
  std::vector<Owner> owners_;  // by LID
};

/// How many links lie between any two switches on the shortest way.
class HopTable {
 public:
  static constexpr std::uint8_t kNone = 255;  ///< no way, or one of 255 links and more

  /// Breadth first from each switch, in parallel. Memory: a byte for each pair of switches.
  HopTable(const DumpView& view, const routing::Parallel& parallel);
  /// Positions in DumpView::switches(); kNone: no way.
  std::uint8_t hops(std::size_t from, std::size_t to) const { return cells_[from * switches_ + to]; }
  /// The same by way of a port of `from`.
  std::uint8_t hops_by(const DumpView::Switch& from, PortNum port, std::size_t to) const;

 private:
  std::size_t switches_;
  std::vector<std::uint8_t> cells_;
};

/// GUID of a port as the tools show it: a switch's ports have the node's.
Guid shown_guid(const Node& node, PortNum port);
/// A node's name without the bytes that would break a line: they become blanks, as in OpenSM's dumps.
std::string shown_name(const Node& node);
/// Active width and speed.
base::LinkRate link_rate(const Node& node, PortNum port);

}  // namespace smd::sm::inline dumps
