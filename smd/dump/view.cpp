// SPDX-License-Identifier: Apache-2.0
#include "smd/dump/view.h"

#include <algorithm>

#include "mad/wire/capability.h"

namespace smd::sm::inline dumps {
ForeignRates foreign_rates(const base::Fabric& fabric) {
  ForeignRates rates;
  for (const auto& node : fabric.nodes) {
    for (std::size_t p = 0; p < node.ports.size(); ++p) {
      const auto& rate = node.ports[p].rate;
      if (!rate.text.empty())
        rates.emplace(std::pair(node.guid, PortNum{static_cast<std::uint8_t>(p)}), rate);
    }
  }
  return rates;
}

DumpView::DumpView(const Subnet& subnet, const Decided& decided, ForeignRates rates, Marks marks)
    : subnet_(subnet), decided_(decided), rates_(std::move(rates)), marks_(marks) {
  find_switches();
  find_owners();
}

const DumpView::Owner& DumpView::owner(Lid lid) const {
  static constexpr Owner kNoOwner;
  return lid.value() < owners_.size() ? owners_[lid.value()] : kNoOwner;
}

LidPart::Entry DumpView::lid(const Node& node, PortNum port) const {
  const PortNum end_port = node.is_switch() ? PortNum{0} : port;
  const auto guid = shown_guid(node, end_port);
  if (const auto* entry = decided_.lids->find(guid)) return *entry;
  const auto& info = node.ports[end_port.value()].info;
  return {.port = guid, .base = info.lid, .lmc = info.lmc};
}

std::size_t DumpView::switch_index(Guid node) const {
  const auto at =
      std::ranges::lower_bound(switches_, node, {}, [](const Switch& s) { return s.node->guid(); });
  if (at == switches_.end() || at->node->guid() != node) return kNoSwitch;
  return static_cast<std::size_t>(at - switches_.begin());
}

void DumpView::find_switches() {
  for (const auto& node : subnet_.nodes) {
    if (!node->is_switch()) continue;
    const auto* row = decided_.routes ? decided_.routes->find(node->guid()) : nullptr;
    switches_.push_back({.node = node.get(), .row = row != nullptr ? row->get() : nullptr, .behind = {}});
  }
  for (auto& sw : switches_) {
    sw.behind.assign(sw.node->ports.size(), kNoSwitch);
    for (std::size_t p = 1; p < sw.node->ports.size(); ++p) {
      const auto& peer = sw.node->ports[p].peer;
      if (peer && peer->node != sw.node->guid()) sw.behind[p] = switch_index(peer->node);
    }
  }
}

void DumpView::find_owners() {
  owners_.resize(std::size_t{top().value()} + 1);
  const auto claim = [&](const Node& node, PortNum port, std::size_t leaf) {
    const auto range = lid(node, port);
    if (!range.base.unicast()) return;
    const std::size_t last =
        std::min<std::size_t>(range.base.value() + (1U << range.lmc) - 1U, top().value());
    for (std::size_t at = range.base.value(); at <= last; ++at) {
      if (owners_[at].node == nullptr) owners_[at] = {.node = &node, .port = port, .leaf = leaf};
    }
  };
  for (std::size_t s = 0; s < switches_.size(); ++s) claim(*switches_[s].node, PortNum{0}, s);
  for (const auto& node : subnet_.nodes) {
    if (node->is_switch()) continue;
    for (unsigned p = 1; p <= node->port_count(); ++p) {
      const auto& port = node->ports[p];
      if (!port.peer) continue;
      claim(*node, PortNum{static_cast<std::uint8_t>(p)}, switch_index(port.peer->node));
    }
  }
}

HopTable::HopTable(const DumpView& view, const routing::Parallel& parallel)
    : switches_(view.switches().size()), cells_(switches_ * switches_, kNone) {
  std::vector<std::vector<std::size_t>> neighbours(switches_);
  for (std::size_t s = 0; s < switches_; ++s) {
    for (const auto behind : view.switches()[s].behind) {
      if (behind != DumpView::kNoSwitch) neighbours[s].push_back(behind);
    }
    std::ranges::sort(neighbours[s]);
    const auto twice = std::ranges::unique(neighbours[s]);
    neighbours[s].erase(twice.begin(), twice.end());
  }
  parallel.for_each(switches_, [&](std::size_t from) {
    auto* row = cells_.data() + from * switches_;
    std::vector<std::size_t> reached{from};
    row[from] = 0;
    for (std::size_t i = 0; i < reached.size(); ++i) {
      const auto next = static_cast<std::uint8_t>(row[reached[i]] + 1);
      if (next == kNone) break;
      for (const auto to : neighbours[reached[i]]) {
        if (row[to] != kNone) continue;
        row[to] = next;
        reached.push_back(to);
      }
    }
  });
}

std::uint8_t HopTable::hops_by(const DumpView::Switch& from, PortNum port, std::size_t to) const {
  const auto behind = port.value() < from.behind.size() ? from.behind[port.value()] : DumpView::kNoSwitch;
  if (behind == DumpView::kNoSwitch) return kNone;
  const auto rest = hops(behind, to);
  return rest >= kNone - 1 ? kNone : static_cast<std::uint8_t>(rest + 1);
}

Guid shown_guid(const Node& node, PortNum port) {
  if (node.is_switch()) return node.guid();
  if (port.value() < node.ports.size() && node.ports[port.value()].guid != Guid{}) {
    return node.ports[port.value()].guid;
  }
  return node.info.port;
}

std::string shown_name(const Node& node) {
  auto name = node.description;
  for (char& c : name) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = ' ';
  }
  return name;
}

base::LinkRate DumpView::rate(const Node& node, PortNum port) const {
  const auto foreign = rates_.find({node.guid(), port});
  return foreign != rates_.end() ? foreign->second : link_rate(node, port);
}

base::LinkRate link_rate(const Node& node, PortNum port) {
  const auto& from = node.ports[port.value()];
  return {.width = wire::link_width(from.info), .speed = wire::link_speed(from.info, from.mlnx), .text = {}};
}

const routing::McRow* DumpView::multicast_row(const Node& node) const {
  const auto* decided = decided_.multicast ? decided_.multicast->find(node.guid()) : nullptr;
  return decided != nullptr ? decided->get() : node.mft.row.get();
}

}  // namespace smd::sm::inline dumps
