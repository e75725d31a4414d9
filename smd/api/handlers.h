// SPDX-License-Identifier: Apache-2.0
#pragma once
// The answers, one function a route. docs/openapi.json describes them; a test compares both. What needs the
// fabric or the store of a subnet is 503 as long as that is not read or open.

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
/// One, by GUID_NUMBER. 404: no such one, or it is not the tenant's.
Answer get_port(const Question& question, Backend& backend);
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
// port_actions.cpp: 404: no such port; 409: not possible there, or without the confirmation; 503: not kept
/// Takes the link down until it is enabled, by the end that can be reached afterwards.
Answer post_port_disable(const Question& question, Backend& backend);
/// The opposite.
Answer post_port_enable(const Question& question, Backend& backend);
/// Takes the link down once, so that it trains anew.
Answer post_port_reset(const Question& question, Backend& backend);
// commands.cpp
/// Requests a sweep: light, heavy or converge; 202. 503: the manager waits for a port or the SM's place.
Answer post_resweep(const Question& question, Backend& backend);
/// Keeps sweeps off for `off_for` seconds, or (0) puts them on. 400: a bad body; 409: this SM is not master.
Answer put_sweeps(const Question& question, Backend& backend);
/// The level in effect, and those of modules and GUIDs.
Answer get_log(const Question& question, Backend& backend);
/// Sets a level, or that of a module or a GUID; "default" is the configured one. 400: a bad body.
Answer put_log(const Question& question, Backend& backend);
// reload.cpp
/// Reads the configuration again (202), or with `dry_run` says what that would change. 400: a bad body; 422:
/// the configuration is wrong; 503: another one is being looked at.
Answer post_reload(const Question& question, Backend& backend);
// accept.cpp
/// Accepts that a node, or all that is lost, stays away. 404: it is not lost; 409: this SM is not master.
Answer post_accept(const Question& question, Backend& backend);
// qos.cpp
/// What becomes of each SL in use, as it is decided. Never an error of its own.
Answer get_qos(const Question& question, Backend& backend);
// sms.cpp
/// The SMs of the subnet, ours first, and what will become of each. Never an error of its own.
Answer get_sms(const Question& question, Backend& backend);
/// Hands the fabric over, to the SM with this port GUID where one is given; 202. 409: none can have
/// it, or this SM is not master.
Answer post_handover(const Question& question, Backend& backend);
/// Sets the priority of SMInfo until the next start. 400: a bad body.
Answer put_priority(const Question& question, Backend& backend);
// nodes.cpp
/// Nodes by GUID, filtered by `type` and `match`, in pages. 400: a bad filter.
Answer get_nodes(const Question& question, Backend& backend);
/// One with its ports, by GUID, port GUID, LID or name; of a tenant those that are its own. 404: no such one;
/// 409: several have the name.
Answer get_node(const Question& question, Backend& backend);
/// Cables, each once: all, those of `node`, or those that are `degraded`. 400: a bad filter.
Answer get_links(const Question& question, Backend& backend);
// path.cpp
/// The way from `src` to `dst` and back, by the tables that were decided, with the SL of the SA's answer (to
/// `sl` and `pkey`, where they are asked for) and the VLs. 400: one is missing; 404: no such port; 409: the
/// SA grants no path of this `sl` or `pkey`.
Answer get_path(const Question& question, Backend& backend);
// events.cpp
/// The latest events, or those after `since`, filtered by `match`; a stream where the client accepts one.
/// 400: a bad query.
Answer get_events(const Question& question, Backend& backend);
/// Of them those of changes of policy, routes, mastership and configuration, in pages. 400: a bad query.
Answer get_changes(const Question& question, Backend& backend);
// groups.cpp
/// Multicast groups that are registered. Never an error of its own.
Answer get_groups(const Question& question, Backend& backend);
// services.cpp
/// Services that are registered; of a tenant those of its partitions at ports of their members. 400: a bad
/// filter; 404: no such node.
Answer get_services(const Question& question, Backend& backend);
// switches.cpp
/// Switches by GUID, filtered by `match` and `level`, in pages. 400: a bad filter.
Answer get_switches(const Question& question, Backend& backend);
// routing.cpp
/// How the routes in force were made, and what was proven of them. 409: nothing decided yet.
Answer get_routing(const Question& question, Backend& backend);
// why.cpp
/// The ports of a node (or of `port` that one) that is there or lost, and what happened to them. 400: neither
/// or both are named; 404: no such one.
Answer get_why(const Question& question, Backend& backend);
// balance.cpp
/// How many LIDs leave each switch by each of its ports. 409: nothing decided yet.
Answer get_balance(const Question& question, Backend& backend);
// exporter_metrics.cpp
/// As get_metrics(), by the names of guilbaults/infiniband-exporter.
Answer get_guilbaults(const Question& question, Backend& backend);
// metrics.cpp
/// For Prometheus, in its text format: `family` and `node` leave out what is not asked for.
Answer get_metrics(const Question& question, Backend& backend);
// tokens.cpp: on the Unix socket only; 409 where this SM copies another one's state
/// The tokens, without what they are recognised by.
Answer get_tokens(const Question& question, Backend& backend);
/// Makes one; its secret is in the answer and nowhere else, unless the body has the hash of one. 409: there
/// is one of that name.
Answer put_token(const Question& question, Backend& backend);
/// Revokes it; requests that come later are refused. 404: no such one.
Answer delete_token(const Question& question, Backend& backend);
/// Gives it another secret; the old one is good for nothing from then on. 404: no such one.
Answer post_rotate(const Question& question, Backend& backend);
/// The same of all subnets that the caller sees, and of the process.
Answer get_all_events(const Question& question, Backend& backend);
// subnets.cpp
/// The subnets that the caller sees, and its role in each; of a tenant the names of its partitions.
Answer get_subnets(const Question& question, Backend& backend);
// health.cpp
/// The process answers.
Answer get_healthz(const Question& question, Backend& backend);
/// 200: this SM is master of all subnets (of the query's `subnet`), or with `role=standby` a standby that has
/// all that the master has. Else 503.
Answer get_readyz(const Question& question, Backend& backend);
// dump.cpp
/// A tar stream of the dumps that `files` names. 409: nothing decided yet; 503: another dump is being made.
Answer get_dump(const Question& question, Backend& backend);

/// One of the backend's subnets.
struct Chosen {
  std::size_t index = 0;
  std::shared_ptr<const SubnetView> view;
};
/// The one that the path names; the error says which there are, or (503, not to a local user) that it may be
/// one whose store is not open yet.
std::expected<Chosen, Answer> choose(const Question& question, const Backend& backend);

/// Of the subnet's SM here; discovering as long as there is none.
wire::SmState sm_state(const SubnetView& view);
/// The manager has its port and the SM's place.
bool is_running(const SubnetView& view);

/// An operator keeps sweeps off.
bool sweeps_are_off(const SubnetView& view);

/// What a node is, without its ports; LID and numbers of ports are of those that the caller sees (null: all).
sm::JsonObject node_object(const sm::Node& node, const std::set<sm::LinkEnd>* only = nullptr);
/// The routes in force; null: none are decided.
sm::Json routing_json(const sm::Decided& decided);
/// What a port is, with the reason where it is not Active.
sm::Json port_json(const sm::Snapshot& now, const sm::Node& node, PortNum port);
/// The same for a tenant: what is at the other end of the cable is not its business.
sm::Json without_peer(sm::Json port);

}  // namespace smd::api
