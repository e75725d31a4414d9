// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is remembered of M_Keys, and what it is good for: how nodes are asked that answer nothing else.

#include <map>

#include "smd/base/m_keys.h"
#include "smd/decide/stored.h"
#include "smd/sweep/m_key_hints.h"

namespace smd::sm::inline decisions {

/// Rows that differ from `before`: of each end port the key that it is to have, with the one that it has
/// shown as long as that is another; where M_Keys are not ours, keys that ports show. Pure.
std::map<Guid, Stored::MKey> new_m_keys(const std::map<Guid, Stored::MKey>& before, const Subnet& subnet,
                                        const MKeySettings& settings);

/// `own`: port GUID of our own port.
MKeyHints m_key_hints(const MKeySettings& settings, const StoredPtr& stored, Guid own);

}  // namespace smd::sm::inline decisions
