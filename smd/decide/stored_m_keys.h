// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is remembered of M_Keys, and what it is good for: how nodes are asked that answer nothing else.

#include <map>
#include <optional>

#include "smd/base/m_keys.h"
#include "smd/decide/stored.h"
#include "smd/sweep/m_key_hints.h"

namespace smd::sm::inline decisions {

/// Rows that differ from `before`: of each end port the key that it is to have, with the one that it has
/// shown as long as that is another; where M_Keys are not ours, keys that ports show. Pure.
std::map<Guid, Stored::MKey> new_m_keys(const std::map<Guid, Stored::MKey>& before, const Subnet& subnet,
                                        const MKeySettings& settings);

/// `subnet` with the keys that ports have by rows which are others than they were `before`; nothing where
/// that is as it is. Rows of ports that have not shown their new key yet count not. Pure.
std::optional<Subnet> with_changed_m_keys(const Subnet& subnet, const std::map<Guid, Stored::MKey>& before,
                                          const std::map<Guid, Stored::MKey>& now);

/// The former_m_keys of a state that goes on with the rows `now` instead of those of `before`: keys that no
/// row has any more, the latest of each port. Pure.
Stored::MKeys former_m_keys(const Stored& before, const Stored::MKeys& now);

/// `stored` with the rows of another SM, which was master of some of the ports, as former_m_keys; nothing
/// where these say nothing new. Pure.
std::optional<Stored> with_left_m_keys(const Stored& stored, const Stored::MKeys& left);

/// `own`: port GUID of our own port.
MKeyHints m_key_hints(const MKeySettings& settings, const StoredPtr& stored, Guid own);

}  // namespace smd::sm::inline decisions
