// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the log says of QoS.

#include "smd/decide/decided.h"
#include "smd/log/log.h"

namespace smd::sm::inline reports {

/// What a decision changes of the policy: `qos.policy`, `qos.off`, and `qos.pending` for its items and
/// members of [[qos.ports]] that mean nothing in this fabric. A few lines, the rest as a number.
void log_qos(const log::Log& log, const Decided& before, const Decided& now);

}  // namespace smd::sm::inline reports
