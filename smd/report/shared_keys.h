// SPDX-License-Identifier: Apache-2.0
#pragma once
// The partitions by which two ports can talk.

#include <string>

#include "smd/decide/decided.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline reports {

/// "0xffff,0x8012": full form of each partition that both end ports belong to, one of them as full member, as
/// answers about paths go by: decided, and held. Of a port that has not answered for its table what is
/// decided counts. "none", or "unknown" where that is not known either. Pure.
std::string shared_keys(const Decided& decided, const Node& a, PortNum port_of_a, const Node& b,
                        PortNum port_of_b);

}  // namespace smd::sm::inline reports
