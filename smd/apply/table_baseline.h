// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the tables of ports that smd does not decide were when it took them over: P_Keys, SL to VL, VL
// arbitration. Ports that lose or change them are logged until they are as before.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "config/partitions.h"
#include "smd/apply/applied.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline applying {

/// Not thread-safe; of one manager.
class TableBaseline {
 public:
  /// Another SM may have written since: what is found next counts.
  void reset() { nodes_.clear(); }
  /// The tables that are smd's to decide have no baseline.
  struct Ours {
    bool pkeys = false, vl_tables = false;
    /// Whether the table with this SMP attribute is smd's to decide.
    bool has(std::uint16_t attribute) const;
    friend bool operator==(const Ours&, const Ours&) = default;
  };
  /// Forgets the baseline of tables that are ours from now on; all nodes are compared at the next look().
  /// Nothing happens where `ours` is as before.
  void decide(const Ours& ours);
  /// Sets `now.altered`: tables that are other than when they were seen first. A table that is seen for the
  /// first time is noted. `before`: the Subnet of the last call since reset(); null: none. Costs a comparison
  /// of pointers a node, and more for nodes that were read since.
  void look(Subnet& now, const Subnet* before);
  /// What smd has written itself is as it should be: of a port that was not in service `before` whole blocks,
  /// of others the default key. `after`: with the answers taken in.
  void wrote(const Subnet& before, const Subnet& after, const Applied& applied);

 private:
  /// Of one port. Null: not known yet.
  struct Tables {
    OfEachTable<HeldPtr> held;
    bool restarted = false;  ///< it was, since it was as noted
  };
  void look_at(const Node& node, std::span<const AlteredTable> before, std::vector<AlteredTable>& altered);
  void forget_gone(const Subnet& now);

  /// Tables of this kind are noted.
  template <class A>
  bool notes() const;

  std::unordered_map<Guid, std::vector<Tables>> nodes_;
  Ours ours_;
  bool anew_ = false;  ///< all nodes are looked at next
};

/// Text for the log: "lost by a restart" or "changed externally".
std::string_view reason_of(const AlteredTable& table);

/// P_Keys of an end port's table that smd has not given it: those of no partition of the policy. Without one
/// (null, or no partition is configured) all but the full default key.
std::vector<PKey> foreign_keys(const HeldBlocks<wire::PKeyTable>& held,
                               const config::PartitionPolicy* policy = nullptr);

/// End ports with such keys, and which keys these are (ascending, each once).
struct ForeignKeys {
  std::size_t ports = 0;
  std::vector<PKey> keys;
};
/// Of all nodes whose tables were read. `stored`: keys that smd has placed itself are not counted, such as
/// one of a deleted partition at a port that does not give it up; null: they are.
ForeignKeys foreign_keys(const Subnet& subnet, const config::PartitionPolicy* policy = nullptr,
                         const Stored* stored = nullptr);
/// Adds those of ports that are remembered with the keys of another SM, also of hosts that are off.
void add_foreign_keys(const Stored& stored, const config::PartitionPolicy* policy, std::vector<PKey>& keys);

}  // namespace smd::sm::inline applying
