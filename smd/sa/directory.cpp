// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/directory.h"

#include <algorithm>
#include <set>
#include <utility>

#include "mad/wire/drop_vl.h"
#include "smd/sa/granted_pkeys.h"
#include "smd/sa/path/trace.h"

namespace smd::sa {
namespace {

std::vector<Lid> forwarded_in(const sm::Snapshot& snapshot) {
  if (const auto& part = snapshot.decided.multicast) return part->unknown;
  std::set<Lid> found;
  for (const auto& node : snapshot.subnet->nodes) {
    for (const auto& entry : routing::entries_of(node->mft.row.get()))
      found.insert(routing::mlid_at(entry.index));
  }
  return {found.begin(), found.end()};
}

/// From each adapter to each other. Aggregation nodes are no hosts: the proof counts what they do not reach
/// among other things, such as spines without a way to each other.
bool reaches_all(const sm::RoutePart& routes) {
  const auto& found = routes.verification;
  if (!found.ok()) return false;
  if (found.unreachable_switch_pairs == 0 && found.unrouted_by_rule == 0) return true;
  return std::ranges::none_of(routes.input.end_ports,
                              [](const auto& end) { return end.kind == routing::EndKind::aggregation; });
}

/// Equal tables are one in memory, so that few are looked at.
bool drops_any_sl(const sm::Subnet& subnet) {
  const void* last = nullptr;
  std::set<const void*> seen;
  for (const auto& node : subnet.nodes) {
    for (const auto& port : node->ports) {
      const auto& held = port.held<wire::SlToVl>();
      if (!held || held.get() == last) continue;
      last = held.get();
      if (!seen.insert(last).second) continue;
      for (std::size_t in = 0; in < held->row.size(); ++in) {
        const auto& vls = held->row[in].vls;
        if (held->known.test(in) && std::ranges::find(vls, wire::kDropVl) != vls.end()) return true;
      }
    }
  }
  return false;
}

bool holds(const sm::HeldLft& lft, const std::shared_ptr<const routing::LftRow>& decided) {
  if (!lft.row || !decided || lft.known.count() < decided->size() / routing::kLftBlock) return false;
  if (lft.row == decided) return true;
  return lft.row->size() >= decided->size() && std::equal(decided->begin(), decided->end(), lft.row->begin());
}

EndPort bare_end_port(const sm::Node& node, PortNum port) {
  const auto& at = node.ports[port.value()];
  return {.node = &node,
          .port = port,
          .guid = node.is_switch() ? node.guid() : at.guid,
          .lid = at.info.lid,
          .lmc = at.info.lmc,
          .pkeys = at.held<wire::PKeyTable>().get()};
}

}  // namespace

EndPort end_port_of(const sm::Decided& decided, const sm::Node& node, PortNum port) {
  auto end = bare_end_port(node, port);
  if (!decided.qos_policy) return end;
  const auto& ports = decided.qos_policy->ports;
  const sm::PeerPort here{node.guid(), port};
  const auto at = std::ranges::lower_bound(
      ports, std::pair(here.node, here.port), {},
      [](const sm::QosPolicyPart::PortOfClass& one) { return std::pair(one.at.node, one.at.port); });
  if (at != ports.end() && at->at == here) end.qos = at->ports;
  return end;
}

Directory::Directory(std::shared_ptr<const sm::Snapshot> snapshot, const Directory* before)
    : snapshot_(std::move(snapshot)) {
  if (before != nullptr) end_ports_.reserve(before->end_ports_.size());
  for (const auto& node : subnet().nodes) {
    const bool is_switch = node->is_switch();
    const auto sw = is_switch ? static_cast<std::uint32_t>(entries_.size()) : kNowhere;
    if (is_switch) entries_.emplace_back(node->lft.row.get());
    if (node->switch_info) {
      multicast_lids_ = std::min<unsigned>(multicast_lids_, node->switch_info->multicast_fdb_cap);
    }
    const auto last = is_switch ? std::size_t{1} : node->ports.size();  // a switch has its port 0
    for (std::size_t number = 0; number < std::min(last, node->ports.size()); ++number) {
      const PortNum port{static_cast<std::uint8_t>(number)};
      if (!sm::is_end_port(*node, port)) continue;
      const auto& info = node->ports[number].info;
      if (!info.lid.unicast()) continue;
      auto end = bare_end_port(*node, port);
      end.place = static_cast<std::uint32_t>(end_ports_.size());
      end.sw = sw;
      end_ports_.push_back(end);
      if (node->guid() == subnet().sm_node && port == subnet().sm_port && info.gid_prefix != 0) {
        prefix_ = info.gid_prefix;
      }
    }
  }
  take_qos_classes();
  narrow_pkeys();
  forwarded_ = forwarded_in(*snapshot_);
  index_ = same_context(before) ? before->index_ : std::make_shared<const Index>(subnet(), end_ports_);
  proven_ = installed_is_proven();
  drops_sls_ = snapshot_->decided.qos_policy && drops_any_sl(subnet());
}

void Directory::narrow_pkeys() {
  for_each_narrowed(*snapshot_,
                    [&](const sm::Node& node, PortNum port, std::shared_ptr<const HeldPKeys> keys) {
                      narrowed_.emplace(std::pair(node.guid(), port), std::move(keys));
                    });
  if (narrowed_.empty()) return;
  for (auto& end : end_ports_) {
    const auto at = narrowed_.find({end.node->guid(), end.port});
    if (at != narrowed_.end()) end.pkeys = at->second.get();
  }
}

const HeldPKeys* Directory::pkeys_of(const sm::Node& node, PortNum port) const {
  const auto at = narrowed_.empty() ? narrowed_.end() : narrowed_.find({node.guid(), port});
  return at != narrowed_.end() ? at->second.get() : node.ports[port.value()].held<wire::PKeyTable>().get();
}

/// Both lists are in the order of nodes and ports.
void Directory::take_qos_classes() {
  const auto& policy = snapshot_->decided.qos_policy;
  if (!policy) return;
  auto at = end_ports_.begin();
  for (const auto& one : policy->ports) {
    const auto before = [&](const EndPort& end) {
      return std::pair(end.node->guid(), end.port) < std::pair(one.at.node, one.at.port);
    };
    while (at != end_ports_.end() && before(*at)) ++at;
    if (at == end_ports_.end()) return;
    if (at->node->guid() == one.at.node && at->port == one.at.port) at->qos = one.ports;
  }
}

bool Directory::installed_is_proven() const {
  const auto& routes = snapshot_->decided.routes;
  const auto& links = index_->links;
  if (!routes || !reaches_all(*routes) || !links.connected() || !links.inner()) return false;
  // What was proven has just these cables.
  if (routes->input.links.size() != links.inner_links() ||
      routes->input.end_ports.size() != links.outer_links())
    return false;
  auto row = routes->rows.begin();
  for (const auto& node : subnet().nodes) {
    if (!node->is_switch()) continue;
    while (row != routes->rows.end() && row->node < node->guid()) ++row;
    if (row == routes->rows.end() || row->node != node->guid() || !holds(node->lft, row->row)) return false;
  }
  return true;
}

/// Sweeps make new indexes of nodes; what is between them changes neither nodes nor links.
bool Directory::same_context(const Directory* before) const {
  if (before == nullptr || !subnet().places || subnet().places != before->subnet().places) return false;
  return std::ranges::equal(end_ports_, before->end_ports_, [](const EndPort& a, const EndPort& b) {
    return a.guid == b.guid && a.lid == b.lid && a.lmc == b.lmc && a.port == b.port;
  });
}

Directory::Index::Index(const sm::Subnet& subnet, std::span<const EndPort> ends)
    : by_lid(std::size_t{kLastUnicastLid.value()} + 1), by_guid(ends.size()), links(subnet, ends) {
  for (std::uint32_t i = 0; i < ends.size(); ++i) {
    const auto& port = ends[i];
    by_guid.add(port.guid, i);
    for (unsigned lid = port.lid.value(); lid < port.lid.value() + port.lids() && lid < by_lid.size();
         ++lid) {
      by_lid[lid] = i + 1;
    }
  }
}

const EndPort* Directory::by_lid(Lid lid) const {
  const auto& places = index_->by_lid;
  if (lid.value() >= places.size() || places[lid.value()] == 0) return nullptr;
  return &end_ports_[places[lid.value()] - 1];
}

const EndPort* Directory::by_guid(Guid port) const {
  const auto found = index_->by_guid.find(port);
  return found != base::GuidIndex::kNone ? &end_ports_[found] : nullptr;
}

const EndPort* Directory::by_gid(const Gid& gid) const {
  if (gid.prefix() != prefix_ && gid.prefix() != kDefaultSubnetPrefix) return nullptr;
  return by_guid(gid.guid());
}

std::optional<Lid> Directory::lid_of(const sm::Node& node, PortNum port) const {
  const auto number = node.is_switch() ? std::size_t{0} : std::size_t{port.value()};
  if (number >= node.ports.size()) return std::nullopt;
  const auto lid = node.ports[number].info.lid;
  if (!lid.unicast()) return std::nullopt;
  return lid;
}

}  // namespace smd::sa
