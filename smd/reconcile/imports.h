// SPDX-License-Identifier: Apache-2.0
#pragma once
// What another subnet manager has left in files.

#include <string>

#include "smd/log/log.h"
#include "smd/reconcile/reconciler.h"

namespace smd::sm::inline reconciling {

/// Adds the LIDs of `file` (OpenSM's guid2lid) to what is stored. Ports that are in service elsewhere keep
/// what they have. A file that cannot be read is logged, and nothing is taken from it.
void import_lids(Reconciler& loop, const std::string& file, const log::Log& log);

/// The same of M_Keys (OpenSM's guid2mkey): they are tried with these ports.
void import_m_keys(Reconciler& loop, const std::string& file, const log::Log& log);

}  // namespace smd::sm::inline reconciling
