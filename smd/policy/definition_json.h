// SPDX-License-Identifier: Apache-2.0
#pragma once
// A partition as JSON: bodies of the API, and rows of the store. docs/openapi.json has the form.

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "config/partition_definition.h"

namespace smd::policy {

/// {"guid": "0x…"}, {"name": "h1"}, {"glob": "h*"}, {"group": "storage"} or {"ports": any text of a port
/// set}, with "membership" and "index0". A text alone is its "ports". The error names the key, what was found
/// and what is allowed.
std::expected<config::MemberRule, std::string> parse_member(const boost::json::value& value);
/// An array of them, or {"members": [...]}, or one of them; in the order of the text.
std::expected<config::MemberRules, std::string> parse_members(const boost::json::value& body);
/// {"ports": …, "membership": …, "index0": …}, which parse_member() reads.
boost::json::object member_json(const config::MemberRule& member);

/// {"pkey": "0x8012" or "auto", "members": […], "ipoib": true or {mtu, rate, sl, qkey, tclass, flow_label,
/// scopes}, "groups": [{mgid, mtu, rate, sl, qkey, tclass, flow_label}]}; all of it may be missing. MTUs in
/// bytes, rates in Gb/s. "name" may be there where it is `name`.
std::expected<config::PartitionDefinition, std::string> parse_definition(const boost::json::value& body,
                                                                         std::string_view name);
/// What parse_definition() reads.
boost::json::object definition_json(const config::PartitionDefinition& definition);

}  // namespace smd::policy
