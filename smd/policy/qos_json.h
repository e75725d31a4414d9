// SPDX-License-Identifier: Apache-2.0
#pragma once
// A QoS policy as JSON, for the store.

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "config/qos_policy.h"

namespace smd::policy {

/// The whole policy, which qos_policy_at() reads. Pure.
boost::json::object qos_json(const config::QosPolicy& policy);
/// Throws where a value is missing, of another kind or out of its range, as Boost.JSON does.
config::QosPolicy qos_policy_at(const boost::json::value& from);

}  // namespace smd::policy
