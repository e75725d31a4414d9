// SPDX-License-Identifier: Apache-2.0
#include "mad/umad/address.h"

#include <arpa/inet.h>
#include <infiniband/umad.h>

#include <algorithm>

namespace smd::umad {
namespace {

void set_address(void* umad, const mad::Route& route) {
  if (std::holds_alternative<mad::DirectedPath>(route)) {
    umad_set_addr(umad, kPermissiveLid.value(), 0, 0, 0);
    return;
  }
  const auto& to = std::get<mad::LidRoute>(route);
  umad_set_addr(umad, to.lid.value(), static_cast<int>(to.qp), to.sl.value(), static_cast<int>(to.qkey));
  umad_set_pkey(umad, to.pkey_index);
  umad_get_mad_addr(umad)->path_bits = to.path_bits;
  if (!to.grh) return;
  ib_mad_addr_t grh{};
  grh.hop_limit = to.grh->hop_limit;
  grh.traffic_class = to.grh->traffic_class;
  grh.flow_label = to.grh->flow_label;  // umad_set_grh turns it into network order
  std::ranges::copy(to.grh->dgid, static_cast<std::uint8_t*>(grh.gid));
  umad_set_grh(umad, &grh);
  umad_get_mad_addr(umad)->gid_index = to.grh->sgid_index;
}

}  // namespace

std::size_t words(std::size_t mad_bytes) { return (umad_size() + mad_bytes + 7) / 8; }

void fill(std::vector<std::uint64_t>& buffer, std::span<const std::uint8_t> mad, const mad::Route& route) {
  buffer.assign(words(mad.size()), 0);
  set_address(buffer.data(), route);
  std::ranges::copy(mad, static_cast<std::uint8_t*>(umad_get_mad(buffer.data())));
}

mad::LidRoute from_of(void* umad) {
  const auto* address = umad_get_mad_addr(umad);
  mad::LidRoute from{.lid = Lid{ntohs(address->lid)},
                     .sl = Sl{address->sl},
                     .qp = ntohl(address->qpn),
                     .qkey = ntohl(address->qkey),
                     .pkey_index = static_cast<std::uint16_t>(umad_get_pkey(umad)),
                     .path_bits = address->path_bits};
  if (address->grh_present != 0) {
    mad::GlobalRoute grh{.sgid_index = address->gid_index,
                         .hop_limit = address->hop_limit,
                         .traffic_class = address->traffic_class,
                         .flow_label = ntohl(address->flow_label)};
    std::copy_n(static_cast<const std::uint8_t*>(address->gid), grh.dgid.size(), grh.dgid.begin());
    from.grh = grh;
  }
  return from;
}

}  // namespace smd::umad
