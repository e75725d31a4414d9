// SPDX-License-Identifier: Apache-2.0
#pragma once
// MADs of any length are one here; on a wire RMPP makes packets of 256 bytes of them (mad_rmpp.c of Linux).

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace smd::sim {

/// The RMPP header says that it is in use, and the class has one.
bool is_rmpp(std::span<const std::uint8_t> mad);

/// Packets that the MAD takes: at least one.
std::size_t segments_of(std::span<const std::uint8_t> mad);

/// The RMPP header that the first segment has: the kernel writes it, whatever the program left there but for
/// the flag that it is in use.
void complete_rmpp(std::span<std::uint8_t> mad);

/// Segment `number`, from 1 on, as it is on the wire: the headers of the MAD with an RMPP header of its own,
/// and its part of the data, filled up with zeros. A MAD that RMPP does not split is its only one.
std::vector<std::uint8_t> segment_of(std::span<const std::uint8_t> mad, std::size_t number);

}  // namespace smd::sim
