// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which paths two ports may have, with which P_Key and SL: all answers by partition and QoS come from here.

#include <cstdint>
#include <optional>

#include "mad/base/id.h"
#include "smd/sa/directory.h"

namespace smd::sa {

/// What a client asked for in addition to the two ends.
struct PathConstraints {
  std::optional<PKey> pkey;
  std::optional<std::uint16_t> qos_class;
  std::optional<std::uint64_t> service_id;
  std::optional<Sl> sl;
};

/// What the paths of a pair of ports have in common.
struct PathParameters {
  PKey pkey;
  Sl sl;                      ///< the class of traffic
  bool any_class = false;     ///< an SL was asked for, and one of any class is granted
  Mtu mtu_limit = Mtu::none;  ///< none: no limit
  StaticRate rate_limit{};    ///< code 0: no limit
  std::optional<std::uint8_t> packet_life;
};

/// Whether two ports have a P_Key in common, one of them at least as full member. A port whose table is
/// empty, or null (not known), has something in common with all.
bool share_pkey(const HeldPKeys* a, const HeldPKeys* b);

class Policy {
 public:
  /// The P_Key of a path, as it was asked for, else as the source's table has it: of a partition with both as
  /// full members rather than of another one, then the default one, then the first in the table. Nothing: the
  /// two share no partition (or not the requested one), and one of them as full member.
  std::optional<PKey> pkey(const EndPort& source, const EndPort& destination,
                           const PathConstraints& constraints) const;
  /// What QoS and partitions grant; nothing where they refuse. As OpenSM has it (docs/qos.md has the table):
  /// an SL that is asked for has to be the one of the level that the policy chooses. Without a level it is
  /// granted, unless the policy has classes, and the SL of the partition is the one of who asks for none.
  /// Where routes have layers, one that is asked for is of a class in the layer of the path: granted_sl()
  /// grants or refuses it.
  std::optional<PathParameters> terms(const sm::Decided& decided, const EndPort& source,
                                      const EndPort& destination, const PathConstraints& constraints) const;
  /// The class of traffic of a path that is asked for by this P_Key alone, as IPoIB does, between ports of
  /// these QoS classes; nothing where the policy refuses it.
  static std::optional<Sl> traffic_class(const sm::Decided& decided, sm::QosPortClass source,
                                         sm::QosPortClass destination, PKey partition);
  /// Where the first P_Key that the two share is in the source's table; 0 where they share none, or where it
  /// is not known.
  std::uint16_t pkey_index(const EndPort& source, const EndPort& destination) const;
  /// The SL on the wire of the path from a port (null: not known, layer 0) to a LID, of a class of traffic.
  Sl sl(const sm::Decided& decided, Sl of_class, const EndPort* source, Lid dlid) const;
  /// That of a path with these terms; nothing where another one was asked for.
  std::optional<Sl> granted_sl(const sm::Decided& decided, const PathParameters& terms,
                               std::optional<Sl> asked, const EndPort& source, Lid dlid) const;

 private:
  std::optional<PKey> class_pkey(const sm::QosPolicyPart& qos, const EndPort& source,
                                 const EndPort& destination, const PathConstraints& constraints) const;
};

/// What comparing the P_Keys of two ports takes of a Slice.
std::size_t pkey_work(const HeldPKeys* a, const HeldPKeys* b);

}  // namespace smd::sa
