// SPDX-License-Identifier: Apache-2.0
#include "smd/observe/light_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mad/transactions/ask.h"
#include "smd/decide/settings.h"
#include "smd/decide/stored_m_keys.h"
#include "smd/ha/other_sms.h"
#include "smd/schedule/patient_group.h"
#include "smd/sweep/m_key_hints.h"
#include "smd/sweep/paths.h"
#include "smd/sweep/unresponsive.h"

namespace smd::sm::inline observing {
namespace {

/// Nodes that one light sweep audits: all of a small fabric, a large one in some 32 light sweeps.
constexpr std::size_t kAuditAtLeast = 32, kAuditShare = 32;

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += text.empty() ? word : "," + word;
  return text;
}

/// The first few nodes that do not answer, by name where they have one.
std::string silent_names(const Subnet& subnet) {
  constexpr std::size_t kMost = 4;
  const auto silent = silent_nodes(subnet);
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, silent.size()); ++i) {
    const auto& lost = *silent[i].first;
    const auto at =
        lost.description.empty() ? fmt::format("a node behind {}", lost.behind.node) : lost.description;
    text += (i == 0 ? "" : ",") + at;
  }
  if (silent.size() > kMost) text += fmt::format(" and {} more", silent.size() - kMost);
  return text;
}

/// A port of this switch has a link that is not Active.
bool has_waiting_port(const Node& node) {
  return node.is_switch() && std::ranges::any_of(node.ports, [](const Port& port) {
           return port.linked() && port.info.port_state != PortState::active &&
                  port.info.port_state != PortState::no_change;
         });
}

}  // namespace

asio::awaitable<PollResult> LightSweep::run(bool soon) {
  parts_.switches.begin_round();
  const auto subnet = parts_.loop.subnet();
  PatientGroup places(parts_.executor, parts_.scheduler), audits(parts_.executor, parts_.scheduler);
  auto found = co_await parts_.switches.ask(subnet, soon);
  ask_places(subnet, places, &found);
  co_await places.finish();
  if (parts_.mastership.state() == wire::SmState::master && !found.heavy) {
    audits.spawn(audit_some(subnet, &found));
    co_await audits.finish();
  }
  look_at_trouble(found);
  learn_of_sms(found);
  parts_.switches.end_round();
  co_return found;
}

/// Other SMs, nodes that were silent, and our own port.
void LightSweep::ask_places(std::shared_ptr<const Subnet> subnet, PatientGroup& group, PollResult* found) {
  auto& mastership = parts_.mastership;
  const Paths paths(*subnet);
  for (const auto& other : subnet->other_sms) {
    const auto path = other.answered ? path_to(paths, *subnet, other) : std::nullopt;
    if (path) group.spawn(mastership.read_sm(target_of(*subnet, other.at, *path), found));
  }
  for (const auto& lost : subnet->unresponsive) {
    const auto before = subnet->index_of(lost.behind.node);
    const auto to = before ? paths.to(*before) : std::nullopt;
    const auto path = to ? to->then(lost.behind.port) : std::nullopt;
    if (path) group.spawn(ask_silent(*path, lost.behind, found));
  }
  group.spawn(mastership.read_own_port(std::move(subnet), found));
}

/// A node that was silent for long is back as soon as it answers once, to one of the M_Keys that its port may
/// have: it may have missed the last change of its key.
asio::awaitable<void> LightSweep::ask_silent(mad::DirectedPath path, PeerPort behind, PollResult* found) {
  const auto hints = m_key_hints(m_key_settings(*parts_.config), parts_.loop.stored(), Guid{});
  const auto keys = hints.at(parts_.loop.subnet().get(), behind);
  bool answers = false;
  for (std::size_t i = 0; i < keys.size() && !answers; ++i) {
    auto request = mad::get_request<wire::NodeInfo>({.route = path, .m_key = keys[i]});
    request.single_try = parts_.config->mad.timeout;
    const auto info = co_await mad::ask<wire::NodeInfo>(&parts_.tx, std::move(request));
    if (!info && info.error().fault != mad::Fault::timeout) co_return;
    answers = info.has_value();
  }
  if (!answers) co_return;
  found->suspects.insert(behind.node);
  found->reason = "a silent node answers again";
}

asio::awaitable<bool> LightSweep::read_known_sms() {
  const auto found = co_await parts_.mastership.read_known_sms();
  if (!found) co_return false;
  learn_of_sms(*found);
  parts_.mastership.known_sms_read(*found);
  co_return true;
}

/// Another SM's state and priority change without a trap.
void LightSweep::learn_of_sms(const SmReads& found) {
  auto others = with_reads(parts_.loop.subnet()->other_sms, found);
  if (!others) return parts_.mastership.sms_read();
  auto subnet = *parts_.loop.subnet();
  subnet.other_sms = std::move(*others);
  parts_.loop.take(std::move(subnet));
  parts_.mastership.report_sms();
  parts_.mastership.sms_read();
  parts_.status.publish_between_sweeps();
}

/// A block that was changed externally is unknown from now on, and written again.
asio::awaitable<void> LightSweep::audit_some(std::shared_ptr<const Subnet> subnet, PollResult* found) {
  const auto nodes = std::max(kAuditAtLeast, subnet->nodes.size() / kAuditShare);
  const auto audited = co_await audit(&parts_.tx, subnet.get(), &audit_, nodes, found->suspects);
  if (audited.empty()) co_return;
  tell_audited(*subnet, audited, found);
  for (const auto node : audited.silent) {
    if (parts_.scheduler.try_again(node)) found->suspects.insert(node);
  }
  // Then it is said which entries differ.
  for (const auto& table : audited.tables) {
    if (table.read_by_sweep()) found->suspects.insert(table.node);
    if (!table.read_by_sweep()) found->vl_tables_lost = true;
  }
  if (!audited.blocks.empty() || !audited.tables.empty()) parts_.loop.take(without_audited(*subnet, audited));
  if (!found->suspects.empty() && found->reason.empty()) found->reason = "audit";
}

/// PortInfo, SwitchInfo and forwarding tables that were changed.
void LightSweep::tell_audited(const Subnet& subnet, const Audit& audited, PollResult* found) const {
  for (const auto& changed : audited.ports) {
    parts_.log.warn("node.changed")
        .port(changed.node, subnet.find(changed.node)->description, changed.port)
        .kv("fields", joined(changed.fields))
        .kv("reason", "changed by another program, or its trap was lost");
    found->suspects.insert(changed.node);
  }
  for (const auto& changed : audited.blocks) {
    parts_.log.warn("node.changed")
        .port(changed.node, subnet.find(changed.node)->description, PortNum{0})
        .kv("lft_block", changed.block)
        .kv("reason", "changed externally");
    found->suspects.insert(changed.node);
  }
}

/// Nothing where tables are not to converge.
std::optional<mad::TimePoint> LightSweep::quiet_for_long_at() const {
  const auto after = parts_.config->routing.converge_after;
  const auto& routes = parts_.loop.decided().routes;
  const bool waits = routes && !routes->waiting.empty();
  const bool works = is_working(parts_.status.summary().state) || waits;
  const auto repaired = parts_.loop.repaired_at();
  if (after.count() == 0 || !works || !repaired) return std::nullopt;
  return *repaired + after;
}

bool LightSweep::may_converge() const {
  const auto at = quiet_for_long_at();
  return at && parts_.scheduler.clock().now() >= *at;
}

std::optional<mad::TimePoint> LightSweep::converge_at() const {
  const auto interval = parts_.config->sweep.interval;
  const bool seldom = interval.count() == 0 || parts_.config->routing.converge_after < interval;
  const bool ours = parts_.loop.subnet() && parts_.mastership.state() == wire::SmState::master;
  return seldom && ours ? quiet_for_long_at() : std::nullopt;
}

/// What is not as it should be is looked at again, whether or not a switch says so; more and more seldom.
void LightSweep::look_at_trouble(PollResult& found) {
  const auto& loop = parts_.loop;
  const auto& subnet = *loop.subnet();
  searched_.clear();
  if (is_working(parts_.status.summary().state)) return;
  const auto again = [&](Guid node) {
    const bool now = parts_.scheduler.try_again(node);
    if (now && found.reason.empty()) found.reason = "not up";
    return now;
  };
  const auto silent = silent_names(subnet);
  if (parts_.mastership.state() != wire::SmState::master || !loop.decided().routes ||
      !subnet.duplicates.empty())
    found.heavy = again(Guid{}) || found.heavy;
  const auto suspect = [&](Guid node) {
    if (again(node) && found.suspects.insert(node).second) searched_.insert(node);
  };
  for (const auto& lost : subnet.unresponsive) suspect(lost.behind.node);
  if (!found.suspects.empty() && found.reason == "not up" && !silent.empty())
    found.reason = fmt::format("still unresponsive: {}", silent);
  for (const auto node : loop.failures().nodes) suspect(node);
  for (const auto& node : subnet.nodes) {
    if (has_waiting_port(*node)) suspect(node->guid());
  }
}

}  // namespace smd::sm::inline observing
