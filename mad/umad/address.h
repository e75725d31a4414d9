// SPDX-License-Identifier: Apache-2.0
#pragma once
// Addresses between our routes and libibumad's buffers.

#include "mad/transport.h"

namespace smd::umad {

/// 64-bit words that hold struct ib_user_mad and a MAD of so many bytes, aligned.
std::size_t words(std::size_t mad_bytes);
/// `umad`: a struct ib_user_mad, as in all of these.
void set_address(void* umad, const mad::Route& route);
mad::LidRoute from_of(void* umad);

}  // namespace smd::umad
