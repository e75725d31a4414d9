// SPDX-License-Identifier: Apache-2.0
#pragma once
// Dependencies of channels by layer, while entries of tables may be the old or the new ones.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "routing/update/update_schedule.h"
#include "routing/verify/dependencies.h"

namespace smd::routing::inline update {

/// One entry of a table that is written.
struct EntryWrite {
  Lid lid;
  SwitchIndex sw = 0;
  std::uint8_t port = kNoRoute;
  friend auto operator<=>(const EntryWrite&, const EntryWrite&) = default;
};

/// Pairs of switches whose paths get another layer.
enum class MovedPairs : std::uint8_t {
  count,     ///< on the layer before: clients learn of the other one when the tables are written
  left_out,  ///< whatever they hold closes a cycle on it in the end
};

/// What switches hold in the course of an update, for layers by pair of switches. References must outlive it.
class LayerStates {
 public:
  /// `changing`: the LIDs that the update writes, ascending.
  LayerStates(const RoutingContext& in, const UpdateInput& tables, std::vector<Lid> changing,
              MovedPairs moved);

  /// Whether the tables in the end have a cycle of channels in a layer.
  bool ends_in_cycle() const;
  /// Whether the tables as they are, with any of these entries (ascending) in effect, might have a cycle of
  /// channels in a layer.
  bool closes_cycle(std::span<const EntryWrite> entries) const;
  /// These entries are in effect.
  void apply(std::span<const EntryWrite> entries);
  /// The entry as it is now.
  std::uint8_t now(SwitchIndex s, Lid lid) const { return now_[s][lid.value()]; }

 private:
  /// One a layer; where VLs depend on ports one for all, whose channels are VLs.
  using Graphs = std::vector<Dependencies>;
  using Entries = std::vector<std::uint8_t>;
  /// A channel that waits for another one, in the graph of this number.
  struct Wait {
    unsigned graph = 0;
    Dependencies::Channel channel;
    unsigned vl = 0;
    PortNum next;
    unsigned next_vl = 0;
  };
  using Waits = std::vector<Wait>;

  std::uint8_t wanted(SwitchIndex s, Lid lid) const { return entry(tables_.routes.rows[s].get(), lid); }
  using Ports = std::span<const std::vector<std::uint8_t>>;  ///< by switch those that an entry may be
  /// What packets to the LID wait for; some of it more than once.
  Waits waits(Lid lid, Ports ports) const;
  Waits waits_by_port(Lid lid, Ports ports) const;
  static void add(const Waits& waits, Graphs& graphs);
  std::vector<std::vector<std::uint8_t>> ports_of(Lid lid) const;
  std::uint64_t layers_from(SwitchIndex s, SwitchIndex to, Lid lid) const;
  std::uint64_t key(const Wait& wait) const;
  void hold(Lid lid);
  void release(Lid lid);
  bool is_cyclic(std::size_t graph) const;

  RoutingContext in_;
  const UpdateInput& tables_;
  MovedPairs moved_;
  std::vector<Lid> changing_;
  std::vector<Entries> now_;                                  ///< by switch
  Graphs others_;                                             ///< of LIDs that do not change
  Graphs current_;                                            ///< of all LIDs as they are now
  std::unordered_map<std::uint64_t, std::uint32_t> holders_;  ///< by key(): waits of LIDs that change
  mutable std::vector<std::optional<bool>> cyclic_;           ///< of `current_`, as far as it was asked
};

}  // namespace smd::routing::inline update
