// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the accepted policy has of [keys]: whether another SM gives ports the same M_Keys, and how far they
// protect. The keys themselves are no part of it.

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "config/config.h"
#include "smd/policy/accepted.h"

namespace smd::policy {

/// Its mark is a key derived from the secret for no port: it shows nothing of those in use, and differs where
/// the secret does.
boost::json::object m_keys_json(const config::KeysConfig& keys);

/// Adds what differs between two of them. Values of null, from a text of an older version, differ in nothing.
void add_m_key_differences(const boost::json::value& theirs, const boost::json::value& ours,
                           AcceptedDifferences& into);

/// Level, lease and form of the keys where the secret is the same; else M_Keys stay as they are, whatever our
/// file says. What our file says otherwise becomes former_m_key: ports may have keys by it. Throws what
/// Boost.JSON does where a value makes no sense.
void restore_m_keys(const boost::json::value& from, config::KeysConfig& into);

}  // namespace smd::policy
