// SPDX-License-Identifier: Apache-2.0
// P_KeyTableRecord: the blocks of each port's P_Key table that are known. Who is in which partition is told
// to those only who know the SM_Key.
#include "mad/wire/sa/records.h"
#include "smd/sa/records/kinds.h"

namespace smd::sa {
namespace {

using PKeyKey = wire::PKeyRecordId;

/// The port is no component of a CA's record: it is looked at below.
constexpr auto kPKeyComponents = consecutive<16, 16, -8>();
constexpr unsigned kPKeyPort = 2;

void pkey_visit(const Directory& directory, const RecordFilter& only, RecordSink& sink) {
  const auto asked = only.request != nullptr && only.request->has(kPKeyPort)
                         ? std::optional(wire::decode<PKeyKey>(only.request->data)->port)
                         : std::nullopt;
  for_each_node(directory, only, [&](const sm::Node& node) {
    for (unsigned i = 0; i < node.ports.size(); ++i) {
      const PortNum number{static_cast<std::uint8_t>(i)};
      const auto& held = node.ports[i].held<wire::PKeyTable>();
      const auto lid = directory.lid_of(node, number);
      if (!held || !lid || (node.is_switch() && asked && *asked != number)) continue;
      for (std::size_t block = 0; block < held->row.size(); ++block) {
        if (!held->known.test(block)) continue;
        sink([&](std::span<std::uint8_t> record) {
          put_record(record, PKeyKey{.lid = *lid, .block = static_cast<std::uint16_t>(block), .port = number},
                     held->row[block]);
        });
      }
    }
  });
}

}  // namespace

RecordKind pkey_records() {
  return {.attribute = PKeyKey::kRecord,
          .name = "P_KeyTableRecord",
          .bytes = 72,
          .components = kPKeyComponents,
          .trusted_only = true,
          .visit = pkey_visit};
}

}  // namespace smd::sa
