// SPDX-License-Identifier: Apache-2.0
// LinkRecord: one for each direction of a link between two nodes with LIDs.
#include "mad/wire/sa/records.h"
#include "smd/sa/records/kinds.h"

namespace smd::sa {
namespace {

/// A port may be asked for by any of its LIDs: visit() looks at ToLID itself.
constexpr auto kLinkComponents = consecutive<16, 8, 8, -16>();
constexpr unsigned kToLid = 3;

/// The base LID that links are to lead to; nothing where any will do.
std::optional<Lid> wanted_end(const Directory& directory, const Request& request) {
  const auto asked = wire::decode<wire::LinkRecord>(request.data);
  if (!request.has(kToLid) || !asked) return std::nullopt;
  const auto* port = directory.by_lid(asked->to_lid);
  return port != nullptr ? port->lid : asked->to_lid;
}

void link_visit(const Directory& directory, const RecordFilter& only, RecordSink& sink) {
  const auto end = wanted_end(directory, *only.request);
  for_each_node(directory, only, [&](const sm::Node& node) {
    for (unsigned i = 1; i < node.ports.size(); ++i) {
      const PortNum number{static_cast<std::uint8_t>(i)};
      const auto& peer = node.ports[i].peer;
      if (!node.ports[i].linked() || !peer) continue;
      const auto* other = directory.subnet().find(peer->node);
      const auto from = directory.lid_of(node, number);
      const auto to = other != nullptr ? directory.lid_of(*other, peer->port) : std::nullopt;
      if (!from || !to || (end && *to != *end)) continue;
      if (!only.viewer.sees(node, number) || !only.viewer.sees(*other, peer->port)) continue;
      sink([&](std::span<std::uint8_t> record) {
        wire::encode_over(
            wire::LinkRecord{.from_lid = *from, .from_port = number, .to_port = peer->port, .to_lid = *to},
            record);
      });
    }
  });
}

}  // namespace

RecordKind link_records() {
  return {.attribute = wire::LinkRecord::kRecord,
          .name = "LinkRecord",
          .bytes = 8,
          .components = kLinkComponents,
          .visit = link_visit};
}

}  // namespace smd::sa
