// SPDX-License-Identifier: Apache-2.0
#pragma once
// Addresses between our routes and libibumad's buffers.

#include <cstdint>
#include <span>
#include <vector>

#include "mad/transport.h"

namespace smd::umad {

/// 64-bit words that hold struct ib_user_mad and a MAD of so many bytes, aligned.
std::size_t words(std::size_t mad_bytes);
/// A struct ib_user_mad with this MAD and its address, to be sent. The memory is used again.
void fill(std::vector<std::uint64_t>& buffer, std::span<const std::uint8_t> mad, const mad::Route& route);
/// The sender of a received MAD; `umad` is its struct ib_user_mad.
mad::LidRoute from_of(void* umad);

}  // namespace smd::umad
