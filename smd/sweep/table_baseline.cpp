// SPDX-License-Identifier: Apache-2.0
#include "smd/sweep/table_baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <utility>

#include "mad/wire/tables.h"

namespace smd::sm {
namespace {

/// Entries that are named of one table; the rest are counted.
constexpr std::size_t kNamed = 4;
/// Nodes that are noted and not there: hosts that are switched off, and not every GUID that ever was shown.
constexpr std::size_t kGone = 65'536;

/// Collects "index 1 0x8001, now 0x0000".
class Differences {
 public:
  template <class T>
  void add(const std::string& entry, const T& was, const T& is) {
    if (++count_ > kNamed) return;
    text_ += fmt::format("{}{} {}, now {}", text_.empty() ? "" : "; ", entry, was, is);
  }
  std::string text() const {
    return count_ > kNamed ? fmt::format("{}; and {} more", text_, count_ - kNamed) : text_;
  }
  bool any() const { return count_ != 0; }

 private:
  std::string text_;
  std::size_t count_ = 0;
};

std::string hex(PKey key) { return fmt::format("0x{:04x}", key.value()); }

Differences compare(const PKeyRows& was, const PKeyRows& is) {
  Differences found;
  for (std::size_t block = 0; block < std::min(was.blocks.size(), is.blocks.size()); ++block) {
    if (!was.known.test(block) || !is.known.test(block)) continue;
    for (std::size_t i = 0; i < was.blocks[block].size(); ++i) {
      const auto before = was.blocks[block][i], now = is.blocks[block][i];
      if (before == now) continue;
      found.add(fmt::format("index {}", block * was.blocks[block].size() + i), hex(before), hex(now));
    }
  }
  return found;
}

Differences compare_sl_to_vl(const LaneRows& was, const LaneRows& is, bool of_switch) {
  Differences found;
  was.known.sl_to_vl.for_each([&](std::size_t row) {
    if (!is.known.sl_to_vl.test(row)) return;
    for (std::size_t sl = 0; sl < was.sl_to_vl[row].vls.size(); ++sl) {
      const auto before = was.sl_to_vl[row].vls[sl], now = is.sl_to_vl[row].vls[sl];
      if (before == now) continue;
      const auto in = of_switch ? fmt::format("from port {} ", row) : std::string{};
      found.add(fmt::format("{}SL {}", in, sl), fmt::format("VL {}", before), fmt::format("VL {}", now));
    }
  });
  return found;
}

Differences compare_arbitration(const LaneRows& was, const LaneRows& is) {
  static constexpr std::array<std::string_view, 4> kParts{"low 0 to 31", "low 32 to 63", "high 0 to 31",
                                                          "high 32 to 63"};
  Differences found;
  was.known.arbitration.for_each([&](std::size_t part) {
    if (!is.known.arbitration.test(part)) return;
    const auto &before = was.arbitration[part].entries, &now = is.arbitration[part].entries;
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (before[i] == now[i]) continue;
      found.add(fmt::format("{} entry {}", kParts[part], i),
                fmt::format("{}:{}", before[i].vl, before[i].weight),
                fmt::format("{}:{}", now[i].vl, now[i].weight));
    }
  });
  return found;
}

/// What is known now of either; where both know something, what was noted stays.
LaneRows joined(const LaneRows& noted, const LaneRows& now) {
  auto all = noted;
  if (all.sl_to_vl.size() < now.sl_to_vl.size()) all.sl_to_vl.resize(now.sl_to_vl.size());
  now.known.sl_to_vl.for_each([&](std::size_t row) {
    if (all.known.sl_to_vl.test(row)) return;
    all.sl_to_vl[row] = now.sl_to_vl[row];
    all.known.sl_to_vl.set(row);
  });
  now.known.arbitration.for_each([&](std::size_t part) {
    if (all.known.arbitration.test(part)) return;
    all.arbitration[part] = now.arbitration[part];
    all.known.arbitration.set(part);
  });
  return all;
}

bool knows_more(const LaneTables& than, const LaneTables& now) {
  bool more = false;
  now.sl_to_vl.for_each([&](std::size_t row) { more = more || !than.sl_to_vl.test(row); });
  now.arbitration.for_each([&](std::size_t part) { more = more || !than.arbitration.test(part); });
  return more;
}

/// It begins anew: an end port in Init, or a switch that has no LID or forwards by nothing yet.
bool begins_anew(const Node& node, const Port& port) {
  if (node.is_switch()) return !node.forwards() || !node.ports[0].info.lid.unicast();
  return port.info.port_state == PortState::init;
}

}  // namespace

void TableBaseline::look_at(const Node& node, std::span<const AlteredTable> before,
                            std::vector<AlteredTable>& altered) {
  auto& noted = nodes_[node.guid()];
  noted.resize(std::max(noted.size(), node.ports.size()));
  for (std::size_t p = 0; p < node.ports.size(); ++p) {
    const auto& port = node.ports[p];
    auto& tables = noted[p];
    const bool known = tables.pkeys || tables.lanes;
    tables.restarted = known && (tables.restarted || begins_anew(node, port));
    const auto first = altered.size();
    const PeerPort at{node.guid(), PortNum{static_cast<std::uint8_t>(p)}};
    // A table that is not known at the moment is as it was found last.
    for (const auto& one : before) {
      const bool missing = one.attribute == wire::PKeyTable::kAttribute
                               ? !port.pkeys || port.pkeys->known.empty()
                               : !port.lanes || port.lanes->known.count() == 0;
      if (one.at.port == at.port && missing && port.linked()) altered.push_back(one);
    }
    const auto add = [&](std::uint16_t attribute, const Differences& found) {
      if (found.any()) altered.push_back({at, attribute, found.text(), tables.restarted});
    };
    if (port.pkeys && tables.pkeys && port.pkeys != tables.pkeys)
      add(wire::PKeyTable::kAttribute, compare(*tables.pkeys, *port.pkeys));
    if (port.lanes && tables.lanes && port.lanes != tables.lanes) {
      add(wire::SlToVl::kAttribute, compare_sl_to_vl(*tables.lanes, *port.lanes, node.is_switch()));
      add(wire::VlArbitration::kAttribute, compare_arbitration(*tables.lanes, *port.lanes));
      if (knows_more(tables.lanes->known, port.lanes->known))
        tables.lanes = std::make_shared<const LaneRows>(joined(*tables.lanes, *port.lanes));
    }
    if (!tables.pkeys) tables.pkeys = port.pkeys;
    if (!tables.lanes) tables.lanes = port.lanes;
    if (altered.size() == first && !begins_anew(node, port)) tables.restarted = false;
  }
}

void TableBaseline::look(Subnet& now, const Subnet* before) {
  std::vector<AlteredTable> altered;
  auto old = before != nullptr ? before->nodes.begin() : std::vector<NodePtr>::const_iterator{};
  const auto end = before != nullptr ? before->nodes.end() : old;
  for (const auto& node : now.nodes) {
    while (old != end && (*old)->guid() < node->guid()) ++old;
    std::span<const AlteredTable> known;
    if (before != nullptr) {
      known = std::ranges::equal_range(before->altered, node->guid(), {},
                                       [](const AlteredTable& one) { return one.at.node; });
    }
    if (old == end || *old != node) {
      look_at(*node, known, altered);
    } else {
      altered.insert(altered.end(), known.begin(), known.end());
    }
  }
  now.altered = std::move(altered);
  if (nodes_.size() > now.nodes.size() + kGone) forget_gone(now);
}

void TableBaseline::forget_gone(const Subnet& now) {
  std::erase_if(nodes_, [&](const auto& entry) { return now.find(entry.first) == nullptr; });
}

void TableBaseline::wrote(const Subnet& after, const Applied& applied) {
  for (const auto& answer : applied.pkeys) {
    const auto& node = *after.nodes[answer.node];
    const auto noted = nodes_.find(node.guid());
    if (!answer.keys || noted == nodes_.end() || noted->second.size() <= answer.port.value()) continue;
    auto& pkeys = noted->second[answer.port.value()].pkeys;
    if (!pkeys || pkeys->blocks.size() <= answer.block) continue;
    auto rows = *pkeys;
    // What else the block holds is not smd's, and stays as noted.
    for (std::size_t i = 0; i < answer.keys->size(); ++i) {
      if ((*answer.keys)[i] == kDefaultPKey) rows.blocks[answer.block][i] = kDefaultPKey;
    }
    pkeys = std::make_shared<const PKeyRows>(std::move(rows));
  }
}

std::string_view reason_of(const AlteredTable& table) {
  return table.restarted ? "lost by a restart" : "changed externally";
}

std::vector<PKey> foreign_keys(const PKeyRows& rows) {
  std::vector<PKey> found;
  for (const auto& block : rows.blocks) {
    std::ranges::copy_if(block, std::back_inserter(found),
                         [](PKey key) { return key != PKey{} && key != kDefaultPKey; });
  }
  return found;
}

ForeignKeys foreign_keys(const Subnet& subnet) {
  ForeignKeys found;
  std::set<PKey> keys;
  const PKeyRows* usual = nullptr;  // nearly all ports share one
  for (const auto& node : subnet.nodes) {
    for (std::size_t p = 0; p < node->ports.size(); ++p) {
      const auto& rows = node->ports[p].pkeys;
      if (!rows || rows.get() == usual || !is_end_port(*node, PortNum{static_cast<std::uint8_t>(p)}))
        continue;
      const auto foreign = foreign_keys(*rows);
      if (foreign.empty()) {
        usual = rows.get();
        continue;
      }
      ++found.ports;
      keys.insert(foreign.begin(), foreign.end());
    }
  }
  found.keys.assign(keys.begin(), keys.end());
  return found;
}

}  // namespace smd::sm
