// SPDX-License-Identifier: Apache-2.0
// The attributes of performance management that few devices have: any bytes through the tables of all.
#include "mad/wire/performance_lanes.h"
#include "mad/wire/performance_optional.h"
#include "tests/fuzz/attribute.h"

namespace {

template <class... A>
void each(std::span<const std::uint8_t> bytes) {
  (smd::fuzz::attribute<A>(bytes), ...);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smd::wire;
  each<PortOpReceiveCounters, PortFlowControlCounters, PortVlOpPackets, PortVlOpData, PortVlFlowUpdateErrors,
       PortVlWaits, SwitchPortVlCongestion, PortReceiveCongestion, PortSlFecn, PortSlBecn,
       PortTransmitCongestion, PortVlTimeCongested>({data, size});
  return 0;
}
