// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a group's packets may be, and whether a port can be in it.

#include <expected>
#include <optional>
#include <string>

#include "mad/base/rate.h"
#include "mad/wire/sa/member_record.h"
#include "smd/sa/registry/write.h"

namespace smd::sa {

/// The largest MTU and the rate that a port's link carries; none and 0 where it does not say.
struct PortLimits {
  Mtu mtu = Mtu::none;
  StaticRate rate;
};
/// NeighborMTU of a CA's linked port, else MTUCap; the rate in use.
PortLimits limits_of(const EndPort& port);

/// The rate, or that of [sa] max_rate if it is slower.
StaticRate capped(StaticRate rate, const Settings& settings);

/// Whether the port has the P_Key, as full or as limited member.
bool has_pkey(const EndPort& port, PKey pkey);

/// The terms of a new group as the request names them and the port's link allows.
std::expected<GroupParameters, Refusal> new_parameters(const EndPort& port, const Settings& settings,
                                                       const Request& request,
                                                       const wire::McMemberRecord& asked);
/// Nothing: what the request names is what the group has, and the port can carry it. The scope is the MGID's,
/// whatever scope the request names in addition: OpenSM's clients create groups and join them with another.
std::optional<Refusal> mismatch(const EndPort& port, const Group& group, const Request& request,
                                const wire::McMemberRecord& asked);
/// Nothing: no new group of IPoIB, or one with what the broadcast group of its partition and scope has, as
/// far as the request names it. So OpenSM has it (ipoib_mcgroup_creation_validation), and RFC 4391 of the
/// Q_Key.
std::optional<Refusal> ipoib_mismatch(const Registry& registry, const Request& request,
                                      const wire::McMemberRecord& asked);
/// Nothing: a group may have this SL. Where clients ask for SLs it is one of a class in layer 0.
std::optional<Refusal> bad_group_sl(const Directory& directory, Sl sl);
/// Nothing: a client may make a group of this name. `pkey`: of the group.
std::optional<Refusal> bad_mgid(const Mgid& mgid, PKey pkey);

}  // namespace smd::sa
