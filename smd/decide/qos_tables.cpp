// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/qos_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "mad/wire/capability.h"
#include "smd/decide/policy_ports.h"
#include "smd/decide/qos_kinds.h"
#include "smd/decide/qos_shares.h"

namespace smd::sm::inline decisions {
namespace {

using config::PortClass;

PortClass class_of(const Node& node, PortNum port) {
  if (node.is_switch()) return port.value() == 0 ? PortClass::switch_port0 : PortClass::switch_external;
  return node.info.type == NodeType::router ? PortClass::router : PortClass::ca;
}

class Decider {
 public:
  explicit Decider(const QosTablesInput& in) : in_(in) {
    part_.optimized = in.config.qos.optimized_sl2vl;
    part_.ports.resize(in.subnet.nodes.size());
    find_sets();
  }

  QosPart decide() && {
    for (std::size_t i = 0; i < in_.subnet.nodes.size(); ++i) {
      const auto& node = *in_.subnet.nodes[i];
      part_.ports[i].assign(node.ports.size(), QosPart::kNone);
      for (std::size_t p = 0; p < node.ports.size(); ++p) {
        const PortNum num{static_cast<std::uint8_t>(p)};
        if (has_tables(i, num)) part_.ports[i][p] = tables_of(i, num);
      }
    }
    return std::move(part_);
  }

 private:
  struct KindKey {
    std::size_t set;
    PortClass of;
    bool between_switches;
    std::uint8_t dimension;  ///< of routing::VlMap
    auto operator<=>(const KindKey&) const = default;
  };

  /// Which of [[qos.ports]] has which port, by place.
  void find_sets() {
    if (in_.config.qos.ports.empty()) return;
    static const config::PortGroups kNone;
    const PolicyPorts ports(in_.subnet, in_.stored, in_.policy ? in_.policy->groups : kNone, in_.partitions,
                            ViewedPorts::all);
    const auto& blocks = in_.config.qos.ports;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const auto found = ports.resolve({blocks[i].ports});
      for (const auto port : found.ports) {
        const auto& at = ports.place(port);
        sets_.try_emplace({at.node, at.port}, i);
      }
      for (const auto& one : found.pending)
        part_.pending.push_back(
            fmt::format("[[qos.ports]] {}: {}: {}", i + 1, to_string(one.term), one.reason));
    }
  }

  /// It is, or will be, in service, and the far end is known.
  bool has_tables(std::size_t index, PortNum num) const {
    const auto& node = *in_.subnet.nodes[index];
    const auto& port = node.ports[num.value()];
    if (!port.known || !in_.links.ports[index][num.value()]) return false;
    return num.value() == 0 ? node.has_enhanced_port0() : port.linked();
  }

  /// The VLs that the port has once it is as decided.
  std::uint8_t vls_of(std::size_t index, PortNum num) const {
    const auto& link = *in_.links.ports[index][num.value()];
    const auto now = in_.subnet.nodes[index]->ports[num.value()].info.operational_vls;
    const auto vls = link.operational_vls != 0 ? link.operational_vls : now;
    return std::clamp<std::uint8_t>(vls, 1, 5);
  }

  bool between_switches(const Node& node, PortNum num) const {
    const auto& peer = node.ports[num.value()].peer;
    const auto* far = peer ? in_.subnet.find(peer->node) : nullptr;
    return node.is_switch() && far != nullptr && far->is_switch();
  }

  bool layered() const { return in_.sls != nullptr && has_layers(*in_.sls); }

  KindKey kind_key(const Node& node, PortNum num) const {
    const auto set = sets_.find({node.guid(), num});
    const bool between = layered() && between_switches(node, num);
    return {.set = set == sets_.end() ? kNoSet : set->second,
            .of = class_of(node, num),
            .between_switches = between,
            .dimension = between ? dimension(node, num) : routing::VlMap::kNoDimension};
  }

  bool by_port() const { return in_.routes != nullptr && in_.routes->layers.vls.by_port(); }

  std::uint8_t dimension(const Node& node, PortNum num) const {
    if (!by_port()) return routing::VlMap::kNoDimension;
    return in_.routes->layers.vls.dimension(in_.routes->topology->find(node.guid()), num);
  }

  QosPart::Kind kind_of(const KindKey& key) const {
    auto kind = kind_of_one_layer(key);
    if (!layered()) return in_.sls != nullptr ? in_one_layer(std::move(kind), *in_.sls) : kind;
    if (key.between_switches && in_.sls->limit.waits != 0)
      kind.most_vls = std::max(kind.most_vls, operational_vls_code(in_.sls->limit.vls));
    if (by_port()) kind.indexes = static_cast<std::uint8_t>(in_.routes->layers.vls.indexes());
    kind.dimension = key.dimension;
    return in_layers(std::move(kind), *in_.sls, key.between_switches ? in_.loads : std::vector<unsigned>{});
  }

  QosPart::Kind kind_of_one_layer(const KindKey& key) const {
    const auto& qos = in_.config.qos;
    if (!qos.enabled) return plain_kind(in_.sls->classes);
    const bool by_class = in_.qos != nullptr && !in_.qos->classes.empty();
    return by_class ? class_kind(qos, key.of, *in_.qos)
                    : qos_kind(qos, key.of, key.set == kNoSet ? nullptr : &qos.ports[key.set]);
  }

  std::uint32_t kind_index(const Node& node, PortNum num) {
    const auto [at, fresh] = kinds_.try_emplace(kind_key(node, num), std::uint32_t{0});
    if (!fresh) return at->second;
    auto kind = kind_of(at->first);
    const auto same = std::ranges::find(part_.kinds, kind);
    at->second = static_cast<std::uint32_t>(same - part_.kinds.begin());
    if (same == part_.kinds.end()) part_.kinds.push_back(std::move(kind));
    return at->second;
  }

  std::uint16_t tables_of(std::size_t index, PortNum num) {
    const auto& node = *in_.subnet.nodes[index];
    const auto& info = node.ports[num.value()].info;
    // Of a switch's ports port 0 has the mask.
    const auto& masked = node.is_switch() ? node.ports[0].info : info;
    const auto kind = kind_index(node, num);
    const bool arbitrates = info.vl_cap > 1;
    // What max_vls leaves: ports with more VLs have the same tables.
    const QosCapacity capacity{.vls = std::min(vls_of(index, num), part_.kinds[kind].most_vls),
                               .maps_sls = wire::has(masked, wire::kCapSlMapping),
                               .arbitrates = arbitrates,
                               .low = arbitrates ? info.vl_arb_low_cap : std::uint8_t{0},
                               .high = arbitrates ? info.vl_arb_high_cap : std::uint8_t{0}};
    const auto [at, fresh] =
        found_.try_emplace({kind, capacity}, static_cast<std::uint16_t>(part_.tables.size()));
    if (fresh) {
      part_.tables.push_back(limited(part_.kinds[kind], capacity));
      part_.tables.back().kind = kind;
      // The port keeps what it has; the report finds these tables without a port.
      if (sends_nothing(part_.tables.back())) at->second = QosPart::kNone;
    }
    return at->second;
  }

  static constexpr std::size_t kNoSet = ~std::size_t{0};

  const QosTablesInput& in_;
  QosPart part_;
  std::map<std::pair<Guid, PortNum>, std::size_t> sets_;
  std::map<KindKey, std::uint32_t> kinds_;
  std::map<std::pair<std::uint32_t, QosCapacity>, std::uint16_t> found_;
};

}  // namespace

std::optional<QosPart> decide_qos_tables(const QosTablesInput& in) {
  if (!in.config.qos.enabled && (in.sls == nullptr || !has_layers(*in.sls))) return std::nullopt;
  return Decider(in).decide();
}

}  // namespace smd::sm::inline decisions
