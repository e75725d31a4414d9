// SPDX-License-Identifier: Apache-2.0
#pragma once
// The answers, one function a route. docs/openapi.json describes them; a test compares both.

#include <expected>

#include "smd/api/router.h"

namespace smd::api {

// status.cpp
/// The process, and every subnet in full. Never an error.
Answer get_status(const Question& question, Backend& backend);
/// One subnet in full. 404: no such subnet.
Answer get_subnet_status(const Question& question, Backend& backend);
// ports.cpp
/// Ports of one subnet by the query's filters; with `lost` also what is missing. 400: a bad filter.
Answer get_ports(const Question& question, Backend& backend);
// partitions.cpp
/// The partitions with their sources; with `name` (a name or P_Key) one with its members. 404: no such one.
Answer get_partitions(const Question& question, Backend& backend);
/// One of them with its members, by name or P_Key. 404: no such one.
Answer get_partition(const Question& question, Backend& backend);
// partition_changes.cpp: 409 where a file defines the partition, or this SM is not master; 503: not kept
/// Makes or replaces a partition of the API; with ?create=true 409 where there is another one of the name.
Answer put_partition(const Question& question, Backend& backend);
/// Takes it away. 404: no such one.
Answer delete_partition(const Question& question, Backend& backend);
/// Adds members, or gives those that are there another membership.
Answer post_members(const Question& question, Backend& backend);
/// Takes the members of the body away; not an error where they are none.
Answer delete_members(const Question& question, Backend& backend);
/// The same of the one that the path names.
Answer delete_member(const Question& question, Backend& backend);
/// Decides index 0 of P_Key tables anew: of the ports of the body, else of all. 202.
Answer post_reindex(const Question& question, Backend& backend);
// commands.cpp
/// Requests a sweep: light, heavy or converge; 202. 409: the manager waits for a port or the SM's place.
Answer post_resweep(const Question& question, Backend& backend);
/// The level in effect, and those of modules and GUIDs.
Answer get_log(const Question& question, Backend& backend);
/// Sets a level, or that of a module or a GUID; "default" is the configured one. 400: a bad body.
Answer put_log(const Question& question, Backend& backend);
// accept.cpp
/// Accepts that a node, or all that is lost, stays away. 404: it is not lost; 409: this SM is not master.
Answer post_accept(const Question& question, Backend& backend);
// sms.cpp
/// The SMs of the subnet, ours first, and what will become of each. Never an error of its own.
Answer get_sms(const Question& question, Backend& backend);
/// Hands the fabric over, to the SM with this port GUID where one is given; 202. 409: none can have
/// it, or this SM is not master.
Answer post_handover(const Question& question, Backend& backend);
/// Sets the priority of SMInfo until the next start. 400: a bad body.
Answer put_priority(const Question& question, Backend& backend);
// dump.cpp
/// A tar stream of the dumps that `files` names. 409: nothing decided yet; 503: another dump is being made.
Answer get_dump(const Question& question, Backend& backend);

/// One of the backend's subnets.
struct Chosen {
  std::size_t index = 0;
  std::shared_ptr<const SubnetView> view;
};
/// The one that the path names; the error says which there are.
std::expected<Chosen, Answer> choose(const Question& question, const Backend& backend);

/// What a port is, with the reason where it is not Active.
sm::Json port_json(const sm::Snapshot& now, const sm::Node& node, PortNum port);

}  // namespace smd::api
