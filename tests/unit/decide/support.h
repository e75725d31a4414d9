// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the tests of LID decisions share.

#include "smd/decide/decided.h"
#include "smd/decide/stored.h"
#include "tests/support/subnet_builder.h"

namespace smd::sm {

using test::SubnetBuilder;
using test::to_lid;

// Switch 0x10 has LID 1. Host 0x100 is the one that a test is about, the SM is on it.
constexpr std::uint64_t kSwitch = 0x10, kHost = 0x100, kOther = 0x200;
constexpr PortState kInit = PortState::init, kActive = PortState::active;

inline SubnetBuilder one_host(PortState state, unsigned lid, std::uint8_t lmc = 0) {
  SubnetBuilder fabric;
  fabric.add_switch(kSwitch).lid(kSwitch, 0, 1).host(kHost, kSwitch, 1, state).lid(kHost, 1, lid, lmc);
  return fabric.sm(kHost, 1);
}

inline Stored stored_lid(std::uint64_t node, unsigned lid, std::uint8_t lmc = 0) {
  Stored stored;
  if (lid != 0) stored.lids[test::port_guid(node, 1)] = {to_lid(lid), lmc};
  return stored;
}

/// Base LID of a port, by its GUID; 0 where it has none.
inline Lid base_lid(const LidPart& part, Guid port) {
  const auto* entry = part.find(port);
  return entry != nullptr ? entry->base : Lid{};
}

}  // namespace smd::sm
