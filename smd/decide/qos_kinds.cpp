// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/qos_kinds.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <optional>
#include <utility>

#include "mad/wire/drop_vl.h"
#include "smd/decide/qos_lanes.h"

namespace smd::sm::inline decisions {
namespace {

using config::QosTables;

constexpr std::size_t kEntries = 64, kEntriesOfBlock = 32;
constexpr std::array<std::uint8_t, 5> kVls{1, 2, 4, 8, 15};  ///< by OperationalVLs' code less 1

std::vector<wire::VlWeight> whole_list(const config::ArbitrationList& list) {
  std::vector<wire::VlWeight> entries(kEntries);
  for (std::size_t i = 0; i < std::min(list.size(), kEntries); ++i) entries[i] = {list[i].vl, list[i].weight};
  return entries;
}

/// VL 0 alone has high priority, VLs 1 to 14 share what it leaves.
config::ArbitrationList default_list(bool high) {
  config::ArbitrationList list;
  for (std::uint8_t vl = 0; vl < 15; ++vl)
    list.push_back({Vl{vl}, static_cast<std::uint8_t>((vl == 0) == high ? 4 : 0)});
  return list;
}

config::SlMap default_map() {
  config::SlMap map;
  for (std::uint8_t sl = 0; sl < 15; ++sl) map[sl] = Vl{sl};
  map[15] = Vl{7};
  return map;
}

/// The value of the first that gives one.
template <class T>
T first_of(std::initializer_list<const QosTables*> order, std::optional<T> QosTables::* member, T otherwise) {
  for (const auto* tables : order) {
    if (tables != nullptr && tables->*member) return *(tables->*member);
  }
  return otherwise;
}

constexpr std::uint8_t kAllVls = 15, kAllVlsCode = 5;

std::uint8_t most_vls_of(const config::QosConfig& qos, config::PortClass of) {
  const auto& own = qos.classes[static_cast<std::size_t>(of)].max_vls;
  return operational_vls_code(own.value_or(qos.all.max_vls.value_or(kAllVls)));
}

/// A class's SLs by layer, a bit each.
std::vector<std::uint16_t> sls_of(const QosPart::Class& one) {
  return one.sls.empty() ? std::vector{static_cast<std::uint16_t>(1U << one.sl.value())} : one.sls;
}

/// SLs of no class have the VL of the first one.
wire::SlToVl class_map(const QosPart::Kind& kind, const QosLanes& lanes, bool turned) {
  wire::SlToVl map;
  map.vls.fill(lanes.vls.front().front());
  const auto set = [&](unsigned sls, Vl vl) {
    for (unsigned sl = 0; sl < map.vls.size(); ++sl) {
      if ((sls >> sl & 1U) != 0) map.vls[sl] = vl;
    }
  };
  for (std::size_t i = 0; i < kind.classes.size(); ++i) {
    const auto sls = sls_of(kind.classes[i]);
    for (std::size_t layer = 0; layer < sls.size(); ++layer)
      set(sls[layer], lanes.vls[i][std::min(kind.index(layer, turned), lanes.vls[i].size() - 1)]);
  }
  set(kind.dropped, wire::kDropVl);
  return map;
}

void put(const std::vector<wire::VlWeight>& list, wire::VlArbitration* blocks) {
  for (std::size_t i = 0; i < std::min(list.size(), kEntries); ++i)
    blocks[i / kEntriesOfBlock].entries[i % kEntriesOfBlock] = list[i];
}

void fill_from_classes(const QosPart::Kind& kind, const QosCapacity& capacity, QosPart::Tables& tables) {
  const std::vector<double> together{1}, apart(kind.loads.begin(), kind.loads.end());
  const LaneLimits limits{
      .vls = vls_of_code(tables.vls), .low = tables.low, .high = tables.high, .in_blocks = kind.indexes != 0};
  auto lanes = qos_lanes(kind.classes, kind.loads.empty() ? together : apart, limits);
  // A link that has come with fewer VLs than the layers need: until routes are decided with these.
  if (!lanes) lanes = qos_lanes(kind.classes, together, limits);
  if (!lanes) return;  // never, as one index fits on one VL
  tables.sl_to_vl = class_map(kind, *lanes, false);
  tables.turned = class_map(kind, *lanes, true);
  put(arbitration_list(lanes->low, tables.low), &tables.arbitration[0]);
  put(arbitration_list(lanes->high, tables.high), &tables.arbitration[2]);
  tables.high_limit = capacity.arbitrates ? kind.high_limit : std::uint8_t{0};
}

/// As a mask of VL numbers: OperationalVLs' codes 1 to 5 are 1, 2, 4, 8 and 15 VLs.
std::uint8_t mask_of(std::uint8_t vls) { return static_cast<std::uint8_t>((1U << (vls - 1U)) - 1U); }

/// Entries up to `count`, their VLs among those of the link.
void fill(const std::vector<wire::VlWeight>& entries, std::size_t count, std::uint8_t mask,
          wire::VlArbitration* blocks) {
  for (std::size_t i = 0; i < std::min(count, kEntries); ++i) {
    const auto vl = static_cast<std::uint8_t>(entries[i].vl.value() & mask);
    blocks[i / kEntriesOfBlock].entries[i % kEntriesOfBlock] = {Vl{vl}, entries[i].weight};
  }
}

/// The lists of a kind with classes.
void show_lists(QosPart::Kind& kind) {
  const auto all = limited(kind, {.vls = kAllVlsCode, .low = kEntries, .high = kEntries});
  kind.sl_to_vl = all.sl_to_vl.vls;
  kind.low.clear();
  kind.high.clear();
  for (std::size_t i = 0; i < kEntries; ++i) {
    kind.low.push_back(all.arbitration[i / kEntriesOfBlock].entries[i % kEntriesOfBlock]);
    kind.high.push_back(all.arbitration[2 + i / kEntriesOfBlock].entries[i % kEntriesOfBlock]);
  }
}

std::uint32_t weight_of(const std::vector<wire::VlWeight>& list, Vl vl) {
  std::uint32_t sum = 0;
  for (const auto& entry : list) sum += entry.vl == vl ? entry.weight : 0U;
  return sum;
}

/// None of a class that is left out: its paths have the SLs of the first one, which keep their VLs. Those of
/// layers that are gone count with the first layer: connections go on on them, in their class.
std::vector<std::uint16_t> wire_bits(const SlPart& sls, Sl of_class) {
  std::vector<std::uint16_t> found(sls.layers);
  if (std::ranges::find(sls.left_out, of_class) != sls.left_out.end()) return found;
  for (unsigned layer = 0; layer < sls.layers; ++layer)
    found[layer] = static_cast<std::uint16_t>(1U << wire_sl(&sls, of_class, layer).value());
  for (const auto& [of, sl] : sls.sls) {
    if (of.first == of_class && of.second >= sls.layers)
      found.front() |= static_cast<std::uint16_t>(1U << sl.value());
  }
  return found;
}

/// Connections of a class that is gone go on on its SLs: each stays in its layer, with the first class.
void keep_layers_of_gone(const SlPart& sls, QosPart::Class& first) {
  for (const auto& [of, sl] : sls.sls) {
    const auto& [of_class, layer] = of;
    const bool gone = std::ranges::find(sls.classes, of_class) == sls.classes.end();
    if (gone && layer < first.sls.size()) first.sls[layer] |= static_cast<std::uint16_t>(1U << sl.value());
  }
}

/// Of lists: a class for each VL that classes of the fabric have.
void classes_of_lists(QosPart::Kind& kind, const SlPart& sls) {
  std::map<Vl, std::size_t> by_vl;
  for (const auto sl : sls.classes) {
    const auto vl = kind.sl_to_vl[sl.value()];
    const auto on_wire = wire_bits(sls, sl);
    if (vl == wire::kDropVl) {
      for (const auto bits : on_wire) kind.dropped |= bits;
      continue;
    }
    const auto [at, fresh] = by_vl.try_emplace(vl, kind.classes.size());
    if (fresh) {
      const auto high = weight_of(kind.high, vl), low = weight_of(kind.low, vl);
      kind.classes.push_back({.sl = sl, .high = high != 0, .share = high != 0 ? high : low, .sls = on_wire});
      continue;
    }
    auto& together = kind.classes[at->second].sls;
    for (std::size_t layer = 0; layer < together.size(); ++layer) together[layer] |= on_wire[layer];
  }
}

}  // namespace

unsigned vls_of_code(std::uint8_t code) { return code >= 1 && code <= kVls.size() ? kVls[code - 1U] : 1; }

std::uint8_t operational_vls_code(unsigned vls) {
  return static_cast<std::uint8_t>(std::ranges::upper_bound(kVls, vls) - kVls.begin());
}

unsigned most_vls_between_switches(const config::QosConfig& qos) {
  return qos.enabled ? vls_of_code(most_vls_of(qos, config::PortClass::switch_external)) : kAllVls;
}

QosPart::Kind qos_kind(const config::QosConfig& qos, config::PortClass of, const config::QosPorts* set) {
  const std::initializer_list<const QosTables*> order{set, &qos.classes[static_cast<std::size_t>(of)],
                                                      &qos.all};
  QosPart::Kind kind;
  kind.sl_to_vl = first_of(order, &QosTables::sl2vl, default_map());
  kind.high = whole_list(first_of(order, &QosTables::vlarb_high, default_list(true)));
  kind.low = whole_list(first_of(order, &QosTables::vlarb_low, default_list(false)));
  kind.high_limit = first_of(order, &QosTables::high_limit, std::uint8_t{0});
  kind.most_vls = most_vls_of(qos, of);
  return kind;
}

QosPart::Kind class_kind(const config::QosConfig& qos, config::PortClass of,
                         const config::QosPolicy& policy) {
  QosPart::Kind kind;
  for (const auto& one : policy.classes)
    kind.classes.push_back({.sl = one.sl, .high = one.high, .share = one.share});
  kind.high_limit = policy.class_high_limit;
  kind.most_vls = most_vls_of(qos, of);
  show_lists(kind);
  return kind;
}

QosPart::Kind plain_kind(std::span<const Sl> classes) {
  QosPart::Kind kind;
  for (const auto sl : classes) kind.classes.push_back({.sl = sl});
  return kind;
}

QosPart::Kind in_one_layer(QosPart::Kind kind, const SlPart& sls) {
  bool more = false;
  for (auto& one : kind.classes) {
    auto on_wire = wire_bits(sls, one.sl);
    if (on_wire.front() == 1U << one.sl.value()) continue;
    one.sls = std::move(on_wire);
    more = true;
  }
  if (more) show_lists(kind);
  return kind;
}

QosPart::Kind in_layers(QosPart::Kind kind, const SlPart& sls, std::vector<unsigned> loads) {
  kind.loads = std::move(loads);
  if (kind.classes.empty()) {
    classes_of_lists(kind, sls);
  } else {
    for (auto& one : kind.classes) one.sls = wire_bits(sls, one.sl);
  }
  if (kind.classes.empty()) return kind;  // all SLs are dropped
  keep_layers_of_gone(sls, kind.classes.front());
  show_lists(kind);
  return kind;
}

namespace {

QosPart::Tables tables_with_map(const QosPart::Kind& kind, const QosCapacity& capacity) {
  QosPart::Tables tables;
  tables.vls = std::min(capacity.vls, kind.most_vls);
  tables.maps_sls = capacity.maps_sls;
  tables.low = capacity.low;
  tables.high = capacity.high;
  if (!kind.classes.empty()) {
    fill_from_classes(kind, capacity, tables);
    return tables;
  }
  const auto mask = mask_of(tables.vls);
  for (std::size_t sl = 0; sl < kind.sl_to_vl.size(); ++sl) {
    const auto vl = kind.sl_to_vl[sl];
    tables.sl_to_vl.vls[sl] = vl == wire::kDropVl ? vl : Vl{static_cast<std::uint8_t>(vl.value() & mask)};
  }
  tables.turned = tables.sl_to_vl;
  fill(kind.low, tables.low, mask, &tables.arbitration[0]);
  fill(kind.high, tables.high, mask, &tables.arbitration[2]);
  tables.high_limit = capacity.arbitrates ? kind.high_limit : std::uint8_t{0};
  return tables;
}

}  // namespace

QosPart::Tables limited(const QosPart::Kind& kind, const QosCapacity& capacity) {
  auto tables = tables_with_map(kind, capacity);
  // IBA has the SL to VL table for ports with several data VLs: without one there is VL 0.
  if (!capacity.maps_sls) {
    tables.sl_to_vl.vls.fill(Vl{0});
    tables.turned = tables.sl_to_vl;
  }
  return tables;
}

}  // namespace smd::sm::inline decisions
