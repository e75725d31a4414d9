// SPDX-License-Identifier: Apache-2.0
// Any SMPs, one after the other, into a small simulated fabric: each 256 bytes of the input go to the SMI of
// a host, the first byte of each saying how far along a directed path (or by LID). The fabric stays sound.
#include <algorithm>
#include <array>

#include "mad/base/fabric_spec.h"
#include "mad/sim/fabric/fabric.h"
#include "mad/wire/smp.h"
#include "tests/fuzz/attribute.h"

namespace {

using namespace smd;
using smd::fuzz::demand;

constexpr std::array<std::array<std::uint8_t, 4>, 4> kPaths{{{}, {1}, {1, 3}, {1, 3, 2, 1}}};
constexpr std::array<std::uint8_t, 4> kHops{0, 1, 2, 4};

/// Keeps the header's version and class good most of the time, so that the agents are reached.
wire::Smp make(std::span<const std::uint8_t> bytes) {
  std::array<std::uint8_t, wire::Smp::kBytes> whole{};
  std::ranges::copy(bytes, whole.begin());
  const unsigned how = whole[0];
  auto smp = *wire::Smp::from_bytes(whole);
  if ((how & 0x80U) != 0) return smp;
  const auto& path = kPaths[how & 3U];
  smp.set_base_version(1);
  smp.set_class_version(1);
  smp.set_mgmt_class((how & 4U) != 0 ? wire::MgmtClass::sm_lid : wire::MgmtClass::sm_directed);
  smp.set_returning(false);
  smp.set_hop_pointer(0);
  smp.set_hop_count(kHops[how & 3U]);
  for (std::size_t i = 0; i < path.size(); ++i) smp.set_initial_path(i + 1, PortNum{path[i]});
  return smp;
}

void sound(const sim::Fabric& fabric) {
  for (const auto& port : fabric.state().ports) {
    const auto state = port.info.port_state;
    demand(state >= PortState::down && state <= PortState::active);
    demand(port.link_up() == (state != PortState::down));
    demand(port.info.operational_vls <= port.info.vl_cap && port.info.neighbor_mtu <= port.info.mtu_cap);
    if (port.peer != sim::kNowhere) demand(port.link_up() == fabric.state().ports[port.peer].link_up());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto description = *base::make_fabric("ft2:4");
  sim::Fabric fabric(description);
  const auto client = fabric.attach(*fabric.default_port(), sim::Interface::smi);
  sim::TimePoint now{};
  std::span<const std::uint8_t> rest(data, size);
  while (!rest.empty()) {
    const auto part = rest.first(std::min(rest.size(), wire::Smp::kBytes));
    rest = rest.subspan(part.size());
    const auto smp = make(part);
    sim::Outgoing mad{.bytes = {smp.bytes().begin(), smp.bytes().end()}};
    if (!smp.is_directed())
      mad.route = mad::LidRoute{.lid = Lid{static_cast<std::uint16_t>(smp.hop_count())}};
    fabric.send(client, std::move(mad), now);
    now += std::chrono::milliseconds(200);
    fabric.advance(now);
    demand(fabric.take(client).size() <= 64);
  }
  sound(fabric);
  static_cast<void>(fabric.reach());
  return 0;
}
