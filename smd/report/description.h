// SPDX-License-Identifier: Apache-2.0
#pragma once
// What log lines and answers call a node, and P_Keys on one line.

#include <cstddef>
#include <span>
#include <string>

#include "smd/sweep/subnet.h"

namespace smd::sm::inline reports {

/// Its NodeDescription; empty for a node that is not in `subnet`.
std::string description_of(const Subnet& subnet, Guid node);

/// "0xffff,0x8001", after `most` of them " and N more".
std::string listed(std::span<const PKey> keys, std::size_t most);

}  // namespace smd::sm::inline reports
