// SPDX-License-Identifier: Apache-2.0
#pragma once
// A PathRecord by LIDs, as bytes: of clients that know nothing of smd's own code.

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace smd::peer {

inline constexpr std::size_t kMad = 256;
inline constexpr int kSaQkey = static_cast<int>(0x80010000U);

inline void put(std::uint8_t* at, std::uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) at[i] = static_cast<std::uint8_t>(value >> (8 * (bytes - 1 - i)));
}

/// Get(PathRecord) of one path; `mad` has kMad bytes.
inline void write_path_request(std::uint8_t* mad, std::uint32_t tid, unsigned slid, unsigned dlid) {
  // Components DLID, SLID and NumbPath, and where they are (libibmad's IB_SA_PR_*).
  constexpr unsigned kMask = 1U << 4U | 1U << 5U | 1U << 12U;
  constexpr std::size_t kMaskAt = 48, kDataAt = 56;
  std::fill_n(mad, kMad, std::uint8_t{0});
  const std::uint8_t header[] = {1, 3, 2, 1};  // Get
  std::ranges::copy(header, mad);
  put(mad + 12, tid, 4);
  put(mad + 16, 0x35, 2);
  put(mad + kMaskAt, kMask, 8);
  put(mad + kDataAt + 40, dlid, 2);
  put(mad + kDataAt + 42, slid, 2);
  mad[kDataAt + 49] = 1;
}

/// The half of the TransactionID that is the client's own.
inline std::uint32_t tid_of(const std::uint8_t* mad) {
  return std::uint32_t{mad[12]} << 24U | std::uint32_t{mad[13]} << 16U | std::uint32_t{mad[14]} << 8U |
         mad[15];
}

}  // namespace smd::peer
