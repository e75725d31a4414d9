// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is replicated in tests: registrations of clients, and what a disk has of them.

#include <cstdint>
#include <vector>

#include "mad/wire/sa/member_record.h"
#include "smd/registry/registry.h"
#include "smd/replica/image.h"
#include "smd/snapshot/snapshot.h"
#include "smd/store/store.h"

namespace smd::test {

constexpr Mgid replica_group(std::uint8_t number) {
  return {{0xff, 0x12, 0xa0, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, number}};
}

/// A member of the group, a service and a subscription of one port.
inline void register_all(sa::Registry& registry, Guid port, std::uint8_t number = 7, Lid mlid = Lid{0xC005}) {
  const sa::GroupParameters terms{.qkey = 0xb1b, .pkey = kDefaultPKey, .mtu = Mtu::m2048, .rate = 3};
  const auto group = replica_group(number);
  if (!registry.groups().contains(group)) registry.put_group(group, mlid, terms, false);
  registry.put_member({group, port}, {.join_state = wire::kFullMember, .joined_by = port});
  const auto gid = Gid::of(0xfe80000000000000, port);
  registry.put_service({.id = number, .gid = gid, .pkey = kDefaultPKey},
                       {.record = {.id = number, .gid = gid}, .owner = port, .ends = 0});
  registry.put_subscription({.port = port, .is_generic = 1, .type = 0xFFFF, .trap = 64, .qp = 1},
                            {.number = 1});
}

/// What register_all() has added, and the group.
inline void unregister_all(sa::Registry& registry, Guid port, std::uint8_t number) {
  registry.drop_group(replica_group(number));
  registry.drop_service({.id = number, .gid = Gid::of(0xfe80000000000000, port), .pkey = kDefaultPKey});
  registry.drop_subscription({.port = port, .is_generic = 1, .type = 0xFFFF, .trap = 64, .qp = 1});
}

/// Of port 1 of the adapter with this number, in the order of GUIDs.
inline Guid adapter_port(const sm::Snapshot& now, std::size_t number) {
  std::vector<Guid> ports;
  for (const auto& node : now.subnet->nodes) {
    if (!node->is_switch()) ports.push_back(node->ports[1].guid);
  }
  return ports.at(number);
}

inline replica::Digests on_disk(const store::Store& disk) {
  return replica::digests(store::Kept{disk.loaded(), disk.registry(), disk.policies(), disk.replica()});
}

}  // namespace smd::test
