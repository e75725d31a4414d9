// SPDX-License-Identifier: Apache-2.0
#pragma once
// MTU, VLs and life times of every linked port: what both ends can do, within what the operator allows.

#include <memory>

#include "config/config.h"
#include "smd/decide/decided.h"
#include "smd/decide/stored.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline decisions {

/// Pure. Ports without a known far end get no settings: they are not brought up.
LinkPart decide_links(const Subnet& subnet, const config::LinksConfig& config, const Stored& stored);

}  // namespace smd::sm::inline decisions
