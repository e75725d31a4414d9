// SPDX-License-Identifier: Apache-2.0
// PortInfoRecord: one for each port of a switch, one for each end port of the others.
#include <array>

#include "mad/wire/sa/records.h"
#include "smd/sa/records/kinds.h"

namespace smd::sa {
namespace {

using PortInfoKey = wire::PortInfoRecordId;

/// PortInfo's fields in the order of their bits, reserved ones included; the options are no filter.
constexpr auto kPortInfoComponents =
    consecutive<16, 8, -8, 64, 64, 16, 16, 32, 16, 16, 8, 8, 8, 8, 4, 4, 4, 4, 2, -3, 3, 4, 4, 4, 4, 4, 4, 8,
                8, 8, 4, 4, 3, 5, 4, 1, 1, 1, 1, 16, 16, 16, 8, 1, -2, 5, -3, 5, 4, 4, 16, -8, 24, 16, 4, 4,
                -3, 5>();

/// CapabilityMask and CapabilityMask2.
constexpr std::array<std::size_t, 2> kCapabilityMasks{7, 53};
static_assert(kPortInfoComponents[kCapabilityMasks[0]].width == 32 &&
              kPortInfoComponents[kCapabilityMasks[1]].width == 16);

void port_info_visit(const Directory& directory, const RecordFilter& only, RecordSink& sink) {
  const auto emit_port = [&](const sm::Node& node, PortNum number, Lid lid) {
    const auto& port = node.ports[number.value()];
    if (!port.known || !only.viewer.sees(node, number)) return;
    sink([&](std::span<std::uint8_t> record) {
      auto info = port.info;
      info.m_key = 0;  // never shown
      put_record(record, PortInfoKey{.lid = lid, .port = number, .options = 0}, info);
    });
  };
  for_each_node(directory, only, [&](const sm::Node& node) {
    for (unsigned i = 0; i < node.ports.size(); ++i) {
      const PortNum number{static_cast<std::uint8_t>(i)};
      if (!node.is_switch() && !sm::is_end_port(node, number)) continue;
      const auto lid = directory.lid_of(node, number);
      if (lid) emit_port(node, number, *lid);
    }
  });
}

}  // namespace

RecordKind port_info_records() {
  return {.attribute = PortInfoKey::kRecord,
          .name = "PortInfoRecord",
          .bytes = 72,
          .components = kPortInfoComponents,
          .capability_masks = kCapabilityMasks,
          .visit = port_info_visit};
}

}  // namespace smd::sa
