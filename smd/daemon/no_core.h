// SPDX-License-Identifier: Apache-2.0
#pragma once
// A core would hold the keys of the fabric.

#include "config/load.h"

namespace smd::daemon {

/// One of the subnets has a key of its own: an M_Key, SM_Key, sa_key, or a key of [ha].
bool holds_keys(const config::Config& config);

/// No core of this process is written from now on, and no process of the same user may look into it
/// (prctl(2), PR_SET_DUMPABLE).
void write_no_core();

}  // namespace smd::daemon
