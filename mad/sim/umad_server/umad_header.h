// SPDX-License-Identifier: Apache-2.0
#pragma once
// struct ib_user_mad_hdr of <rdma/ib_user_mad.h>, in the longer form with the P_Key index and the older one.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mad/transport.h"

namespace smd::sim {

inline constexpr std::size_t kUmadHeader = 64, kOldUmadHeader = 56;

struct UmadHeader {
  std::uint32_t agent = 0, status = 0, timeout_ms = 0, retries = 0, length = 0;
  mad::LidRoute address{};
};

/// Of the first bytes of what a program writes; nothing where there are fewer.
std::optional<UmadHeader> read_header(std::span<const std::uint8_t> umad, std::size_t header_bytes);
/// The header as the kernel writes it before a received MAD.
std::vector<std::uint8_t> write_header(const UmadHeader& header, std::size_t header_bytes);

}  // namespace smd::sim
