// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is missing and what is slow, as JSON.

#include "smd/report/json.h"
#include "smd/snapshot/snapshot.h"

namespace smd::api {

/// Counts, and when the fabric was last complete; null before a first sweep as master.
sm::Json lost_json(const sm::Snapshot& now);
/// Each lost node, as an array.
sm::Json lost_nodes_json(const sm::Snapshot& now);
/// Each once, from its smaller end; a host's link to a switch from the switch's end.
sm::Json lost_links_json(const sm::Snapshot& now);
/// What a port had a link to, with its rate and since when it has none; null where it has one or never had.
sm::Json lost_of_port_json(const sm::Snapshot& now, const sm::Node& node, PortNum port);
/// Links below the best rate of their ends (sm::degraded_links), as an array.
sm::Json degraded_json(const sm::Snapshot& now);
/// As the node calls itself, or did when it was there last; empty: it is not known.
std::string name_of(const sm::Snapshot& now, Guid node);
/// Ports that an operator has disabled, as an array.
sm::Json disabled_ports_json(const sm::Snapshot& now);
/// An end of a link, with the name that its node has or had.
sm::Json end_json(const sm::Snapshot& now, const sm::LinkEnd& end);
/// UTC, "2026-11-23T00:31:41Z"; null for 0.
sm::Json unix_json(sm::UnixTime when);

}  // namespace smd::api
