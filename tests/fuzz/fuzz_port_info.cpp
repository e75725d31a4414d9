// SPDX-License-Identifier: Apache-2.0
#include "mad/wire/capability.h"
#include "tests/fuzz/attribute.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smd;
  fuzz::attribute<wire::PortInfo>({data, size});
  const auto info = wire::decode<wire::PortInfo>({data, size});
  if (!info) return 0;
  const auto ext = wire::decode<wire::MlnxExtPortInfo>({data, size});
  fuzz::demand(to_string(wire::link_width(*info)) != "" && to_string(wire::link_speed(*info)) != "");
  fuzz::demand(wire::link_speed(*info, ext) >= wire::link_speed(*info));
  fuzz::demand(wire::has(*info, wire::kCapCapabilityMask2) || !wire::has2(*info, 0xFFFF));
  return 0;
}
