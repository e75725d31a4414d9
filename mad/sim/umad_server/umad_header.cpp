// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/umad_server/umad_header.h"

#include <rdma/ib_user_mad.h>

#include <bit>
#include <cstring>

namespace smd::sim {
namespace {

static_assert(sizeof(ib_user_mad_hdr) == kUmadHeader);
static_assert(offsetof(ib_user_mad_hdr, pkey_index) == kOldUmadHeader);

/// Between the host's order and the wire's, either way.
template <class T>
T swapped(T value) {
  if constexpr (std::endian::native == std::endian::little) return std::byteswap(value);
  return value;
}

}  // namespace

std::optional<UmadHeader> read_header(std::span<const std::uint8_t> umad, std::size_t header_bytes) {
  if (umad.size() < header_bytes) return std::nullopt;
  ib_user_mad_hdr raw{};
  std::memcpy(&raw, umad.data(), header_bytes);
  UmadHeader header{.agent = raw.id,
                    .status = raw.status,
                    .timeout_ms = raw.timeout_ms,
                    .retries = raw.retries,
                    .length = raw.length};
  auto& to = header.address;
  to.lid = Lid{swapped(raw.lid)};
  to.sl = Sl{static_cast<std::uint8_t>(raw.sl & 0xFU)};
  to.qp = swapped(raw.qpn) & 0xFF'FFFFU;
  to.qkey = swapped(raw.qkey);
  to.path_bits = raw.path_bits;
  if (header_bytes == kUmadHeader) to.pkey_index = raw.pkey_index;
  if (raw.grh_present != 0) {
    mad::GlobalRoute grh;
    std::memcpy(grh.dgid.data(), raw.gid, grh.dgid.size());
    grh.sgid_index = raw.gid_index;
    grh.hop_limit = raw.hop_limit;
    grh.traffic_class = raw.traffic_class;
    grh.flow_label = swapped(raw.flow_label) & 0xF'FFFFU;
    to.grh = grh;
  }
  return header;
}

std::vector<std::uint8_t> write_header(const UmadHeader& header, std::size_t header_bytes) {
  const auto& from = header.address;
  ib_user_mad_hdr raw{};
  raw.id = header.agent;
  raw.status = header.status;
  raw.timeout_ms = header.timeout_ms;
  raw.retries = header.retries;
  raw.length = header.length;
  raw.lid = swapped(from.lid.value());
  raw.sl = from.sl.value();
  raw.qpn = swapped(from.qp);
  raw.path_bits = from.path_bits;
  raw.pkey_index = from.pkey_index;
  if (from.grh) {
    raw.grh_present = 1;
    std::memcpy(raw.gid, from.grh->dgid.data(), from.grh->dgid.size());
    raw.gid_index = from.grh->sgid_index;
    raw.hop_limit = from.grh->hop_limit;
    raw.traffic_class = from.grh->traffic_class;
    raw.flow_label = swapped(from.grh->flow_label);
  }
  std::vector<std::uint8_t> bytes(header_bytes);
  std::memcpy(bytes.data(), &raw, header_bytes);
  return bytes;
}

}  // namespace smd::sim
