// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an attribute of one node should say, as far as smd manages it: what it says now with our fields
// replaced. Plan compares with it, apply encodes it: one place knows which fields are ours.

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mad/wire/port_info.h"
#include "mad/wire/switch.h"
#include "smd/decide/decided.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline planning {

/// An M_Key that a port does not keep is noted under this name, by this number: not what it is.
inline constexpr std::string_view kMKeyField = "M_Key";
inline constexpr std::uint64_t kMKeyNoted = 1;

/// What plan and apply look at; outlives both.
struct PlanInput {
  const Subnet& subnet;
  const Decided& decided;
  /// Nodes to which nothing is written for now: they did not answer, and the others are not to wait for them.
  const std::set<Guid>* left_out = nullptr;
  /// Packets of routes that were taken away may be under way: no table is written before that is over.
  bool draining = false;
  /// SLs of the decision before, which clients may have; null: of this one.
  const SlPart* sls_before = nullptr;
  /// M_Keys that were decided are not on the disk: none is set.
  bool holds_m_keys = false;
  /// The node is one of left_out.
  bool leaves_out(Guid node) const { return left_out != nullptr && left_out->contains(node); }
};

/// PortInfo of a port as it should be, its state left as it is; nothing for ports that are not ours to set
/// (not known, not linked, far end not in service, no LID to give). Fields noted as not kept are left alone.
std::optional<wire::PortInfo> desired_port_info(const PlanInput& in, const Node& node, PortNum port);

/// SwitchInfo of a switch with `top` as LinearFDBTop; nothing where it did not answer.
std::optional<wire::SwitchInfo> desired_switch_info(const PlanInput& in, const Node& node);

/// ARInfo of a switch whose adaptive routing is to end: as it was read, but off. Nothing for all others.
std::optional<wire::ArInfo> desired_ar_info(const PlanInput& in, const Node& node);

/// The PortInfo to send: `desired` with the state `target`, no other state machine touched, and Enabled
/// fields only where they differ from `now`.
wire::PortInfo port_info_to_set(const wire::PortInfo& desired, const wire::PortInfo& now, PortState target);

/// The link stays Armed, because the switch at its end cannot enforce partitions and must.
bool stays_armed(const PlanInput& in, const Node& node, PortNum port);

/// This is the end that takes the link down, so that it comes up within what is enabled.
bool must_retrain(const PlanInput& in, const Node& node, PortNum port);

/// Fields that were Set and came back with another value. State machines and read-only fields are not named.
std::vector<NotKept> not_kept(PortNum port, const wire::PortInfo& sent, const wire::PortInfo& answered);
/// The same of SwitchInfo.
std::vector<NotKept> not_kept(const wire::SwitchInfo& sent, const wire::SwitchInfo& answered);
/// The same of an NVIDIA switch's ARInfo.
std::vector<NotKept> not_kept(const wire::ArInfo& sent, const wire::ArInfo& answered);

}  // namespace smd::sm::inline planning
