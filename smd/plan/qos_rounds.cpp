// SPDX-License-Identifier: Apache-2.0
#include "smd/plan/qos_rounds.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>

#include "smd/decide/qos_kinds.h"
#include "smd/decide/qos_shares.h"
#include "smd/plan/vl_turns.h"

namespace smd::sm::inline planning {
namespace {

using Tables = QosPart::Tables;
using SlToVlKind = TableKind<wire::SlToVl>;

/// Of QosRounds::before.
constexpr std::size_t kFirst = 0, kLate = 1, kWhole = 2, kRows = 3;

/// Blocks of the arbitration tables of a port with these.
BlockSet blocks_of_arbitration(const Tables& tables) {
  BlockSet blocks;
  const std::size_t entries[] = {tables.low, tables.high};
  for (std::size_t i = 0; i < 2; ++i) {
    if (entries[i] != 0) blocks.set(2 * i);
    if (entries[i] > kEntriesOfBlock) blocks.set(2 * i + 1);
  }
  return blocks;
}

template <class A>
bool was_read(const Port& port, const BlockSet& blocks) {
  const auto& held = port.held<A>();
  return blocks.empty() || (held && held->asked.contains(blocks));
}

template <class A>
bool holds_block(const Port& port, std::size_t block, const A& content) {
  const auto& held = port.held<A>();
  return held && held->known.test(block) && held->row[block] == content;
}

/// VLs that some SL is mapped to, as far as the table of the port is known; all where it has none or is not.
VlSet mapped_vls(const Port& port) {
  const auto& held = port.held<wire::SlToVl>();
  const auto code = port.info.operational_vls;
  const std::size_t count = code != 0 ? vls_of_code(code) : kDataVls;
  VlSet vls;
  for (std::size_t row = 0; held && row < held->row.size(); ++row) {
    if (!held->known.test(row)) continue;
    for (const auto vl : held->row[row].vls) {
      if (vl.value() < count) vls.set(vl.value());
    }
  }
  return vls.none() ? ~VlSet{} : vls;
}

/// Whether the mapping depends on the port by which packets come in.
bool has_turns(const Tables& tables) { return tables.turned != tables.sl_to_vl; }

/// One port whose SL to VL table differs.
struct Remapped {
  PortNum port;
  const Tables* tables = nullptr;
  std::vector<std::size_t> rows;
};

class Planner {
 public:
  explicit Planner(const PlanInput& in) : in_(in), part_(*in.decided.qos_tables) {
    for (auto& round : rounds_.before) round.phase = Phase::vl_tables;
    rounds_.after.phase = Phase::vl_weights;
  }

  QosRounds plan() && {
    for (NodeIndex i = 0; i < in_.subnet.nodes.size(); ++i) {
      if (!in_.leaves_out(in_.subnet.nodes[i]->guid())) plan_node(i);
    }
    return std::move(rounds_);
  }

 private:
  void plan_node(NodeIndex index) {
    const auto& node = *in_.subnet.nodes[index];
    std::vector<Remapped> remapped;
    for (std::size_t p = 0; p < node.ports.size(); ++p) {
      const PortNum num{static_cast<std::uint8_t>(p)};
      const auto* tables = part_.find(index, num);
      if (tables == nullptr || is_settled(index, num, *tables)) continue;
      if (auto port = plan_port(index, num, *tables); !port.rows.empty()) remapped.push_back(std::move(port));
    }
    if (!remapped.empty()) add_rows(index, remapped);
  }

  /// Of packets that come in by the port of this number.
  const wire::SlToVl& content(NodeIndex index, PortNum out, std::size_t row) const {
    return *part_.mapping(index, PortNum{static_cast<std::uint8_t>(row)}, out);
  }

  /// Ports share their tables, and nearly all are as they should be.
  bool is_settled(NodeIndex index, PortNum num, const Tables& tables) {
    const auto& node = *in_.subnet.nodes[index];
    const auto& port = node.ports[num.value()];
    const auto rows = tables.maps_sls ? sl_to_vl_rows(node) : BlockSet{};
    const std::tuple key{&tables, port.held<wire::SlToVl>().get(), port.held<wire::VlArbitration>().get(),
                         rows.count()};
    if (settled_.contains(key)) return true;
    bool same = true;
    rows.for_each([&](std::size_t row) { same = same && holds_block(port, row, content(index, num, row)); });
    blocks_of_arbitration(tables).for_each(
        [&](std::size_t block) { same = same && holds_block(port, block, tables.arbitration[block]); });
    if (same && !has_turns(tables)) settled_.insert(key);
    return same;
  }

  /// Adds its arbitration, and gives the rows of SL to VL that differ.
  Remapped plan_port(NodeIndex index, PortNum num, const Tables& tables) {
    const auto& node = *in_.subnet.nodes[index];
    const auto& port = node.ports[num.value()];
    const bool in_use = vl_tables_in_use(node, num);
    const auto rows = tables.maps_sls ? sl_to_vl_rows(node) : BlockSet{};
    const auto blocks = blocks_of_arbitration(tables);
    Remapped remapped{num, &tables, {}};
    if (in_use && (!was_read<wire::SlToVl>(port, rows) || !was_read<wire::VlArbitration>(port, blocks)))
      return remapped;
    rows.for_each([&](std::size_t row) {
      if (!holds_block(port, row, content(index, num, row))) remapped.rows.push_back(row);
    });
    const auto& held = port.held<wire::VlArbitration>();
    const auto [between, late] = in_use && held
                                     ? turns_between(tables, *held, mapped_vls(port), !remapped.rows.empty())
                                     : VlTurns{.between = tables.arbitration};
    blocks.for_each([&](std::size_t block) {
      auto& round = rounds_.before[late.test(block) ? kLate : kFirst];
      if (!holds_block(port, block, between[block]))
        round.items<wire::VlArbitration>().push_back({index, num, block, between[block]});
      if (between[block] != tables.arbitration[block])
        rounds_.after.items<wire::VlArbitration>().push_back({index, num, block, tables.arbitration[block]});
    });
    return remapped;
  }

  bool can_set_many(const Node& node) const {
    const bool refuses = std::ranges::any_of(node.not_kept, [](const NotKept& noted) {
      return noted.attribute == wire::SlToVl::kAttribute && noted.field == kOptimizedField;
    });
    return part_.optimized && !refuses && node.switch_info && (node.switch_info->optimized_sl_to_vl & 1) != 0;
  }

  /// The mapping that most of these ports are to have; nothing where one Set for all would change a port in
  /// use to one that is not its own.
  const wire::SlToVl* common(NodeIndex index, const std::vector<Remapped>& remapped) const {
    std::map<const Tables*, std::size_t> counts;
    const Tables* most = nullptr;
    for (const auto& port : remapped) {
      if (port.port.value() == 0) continue;
      const auto count = ++counts[port.tables];
      if (most == nullptr || count > counts[most]) most = port.tables;
    }
    const bool turns =
        std::ranges::any_of(remapped, [](const auto& port) { return has_turns(*port.tables); });
    if (most == nullptr || remapped.size() < 2 || turns) return nullptr;
    const auto& node = *in_.subnet.nodes[index];
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      const PortNum num{static_cast<std::uint8_t>(p)};
      const auto* tables = part_.find(index, num);
      const bool in_use = node.ports[p].linked() && vl_tables_in_use(node, num);
      if (in_use && (tables == nullptr || tables->sl_to_vl != most->sl_to_vl || has_turns(*tables)))
        return nullptr;
    }
    return &most->sl_to_vl;
  }

  void add_rows(NodeIndex index, const std::vector<Remapped>& remapped) {
    const auto& node = *in_.subnet.nodes[index];
    const bool many = node.is_switch() && can_set_many(node);
    const auto* all = many ? common(index, remapped) : nullptr;
    auto& rows = rounds_.before[kRows].items<wire::SlToVl>();
    if (all != nullptr)
      rounds_.before[kWhole].items<wire::SlToVl>().push_back(
          {index, remapped.front().port, SlToVlKind::kAllPorts, *all});
    for (const auto& port : remapped) {
      if (has_turns(*port.tables)) {
        add_turning_rows(index, port, many);
        continue;
      }
      const auto& content = port.tables->sl_to_vl;
      if (all != nullptr && port.port.value() != 0 && content == *all) continue;
      if (many && (all != nullptr || port.rows.size() > 1)) {
        rows.push_back({index, port.port, SlToVlKind::kAllIn, content});
        continue;
      }
      for (const auto row : port.rows) rows.push_back({index, port.port, row, content});
    }
  }

  /// A port that is not in use gets the rows of most ports at once, and then the others.
  void add_turning_rows(NodeIndex index, const Remapped& port, bool many) {
    const auto& node = *in_.subnet.nodes[index];
    auto& rows = rounds_.before[kRows].items<wire::SlToVl>();
    if (!many || port.rows.size() < 2 || vl_tables_in_use(node, port.port)) {
      for (const auto row : port.rows)
        rows.push_back({index, port.port, row, content(index, port.port, row)});
      return;
    }
    const auto& most = port.tables->sl_to_vl;
    rounds_.before[kWhole].items<wire::SlToVl>().push_back({index, port.port, SlToVlKind::kAllIn, most});
    sl_to_vl_rows(node).for_each([&](std::size_t row) {
      const auto& own = content(index, port.port, row);
      if (own != most) rows.push_back({index, port.port, row, own});
    });
  }

  const PlanInput& in_;
  const QosPart& part_;
  QosRounds rounds_;
  std::set<std::tuple<const Tables*, const void*, const void*, std::size_t>> settled_;
};

}  // namespace

QosRounds qos_rounds(const PlanInput& in) {
  if (!in.decided.qos_tables) return {};
  return Planner(in).plan();
}

}  // namespace smd::sm::inline planning
