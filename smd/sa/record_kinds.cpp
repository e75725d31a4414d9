// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "smd/sa/record_kind.h"
#include "smd/sa/records/kinds.h"

namespace smd::sa {
namespace {

constexpr auto attribute_of = &RecordKind::attribute;

}  // namespace

std::span<const RecordKind> record_kinds() {
  static const std::array kKinds{
      node_records(), port_info_records(),      sl_to_vl_records(), switch_info_records(), lft_records(),
      mft_records(),  sm_info_records(),        link_records(),     guid_info_records(),   service_records(),
      pkey_records(), vl_arbitration_records(), member_records(),   inform_records()};
  return kKinds;
}

std::size_t all_nodes(const Directory& directory, const Registry& /*registry*/) {
  return directory.subnet().nodes.size();
}
std::size_t all_end_ports(const Directory& directory, const Registry& /*registry*/) {
  return directory.end_ports().size();
}
std::size_t one_place(const Directory& /*directory*/, const Registry& /*registry*/) { return 1; }

const RecordKind* find_kind(std::uint16_t attribute) {
  const auto kinds = record_kinds();
  const auto found = std::ranges::find(kinds, attribute, attribute_of);
  return found != kinds.end() ? &*found : nullptr;
}

}  // namespace smd::sa
