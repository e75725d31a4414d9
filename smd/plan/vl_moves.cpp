// SPDX-License-Identifier: Apache-2.0
#include "smd/plan/vl_moves.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "routing/update/vl_steps.h"
#include "smd/decide/port_vl_tables.h"

namespace smd::sm::inline planning {
namespace {

using SlRow = std::array<std::uint8_t, 16>;

SlRow numbers_of(const wire::SlToVl& map) {
  SlRow row{};
  std::ranges::transform(map.vls, row.begin(), [](Vl vl) { return vl.value(); });
  return row;
}

/// A row of a port in service that differs.
struct ChangingRow {
  NodeIndex node = 0;
  PortNum out;
  std::size_t in = 0;
  wire::SlToVl before, after;
};

class Moves {
 public:
  explicit Moves(const PlanInput& in)
      : in_(in),
        part_(*in.decided.qos_tables),
        topology_(*in.decided.routes->topology),
        change_{.routes = routes_, .sls_of_layer = {}, .before = {}, .after = {}} {}

  VlMoves make(const routing::Parallel& parallel, const std::stop_token& stop) {
    for (routing::SwitchIndex s = 0; s < topology_.switches(); ++s) add_switch(s);
    if (rows_.empty()) return {};
    add_sls();
    const auto& routes = *in_.decided.routes;
    routes_.layers = routes.layers_before ? *routes.layers_before : routes.layers;
    const auto found = routing::vl_steps({topology_, *routes.lid_map, parallel, stop}, change_);
    VlMoves moves{.rounds = {}, .proven = found.proven};
    routing::SlSet done;
    for (std::size_t i = 0; i + 1 < found.steps.size(); ++i)
      moves.rounds.push_back(round(done |= found.steps[i]));
    return moves;
  }

 private:
  void add_switch(routing::SwitchIndex s) {
    const std::size_t ports = topology_.ports(s) + 1U;
    auto& before = change_.before.emplace_back(ports * ports);
    auto& after = change_.after.emplace_back(ports * ports);
    const auto index = in_.subnet.index_of(topology_.guid(s));
    const auto* node = index ? in_.subnet.nodes[*index].get() : nullptr;
    routes_.rows.push_back(node != nullptr ? node->lft.row : nullptr);
    for (std::size_t out = 1; node != nullptr && out < ports && out < node->ports.size(); ++out) {
      const PortNum num{static_cast<std::uint8_t>(out)};
      if (topology_.peer(s, num).sw == routing::kNoSwitch) continue;
      for (std::size_t in = 0; in < ports; ++in) {
        const auto* map = part_.mapping(*index, PortNum{static_cast<std::uint8_t>(in)}, num);
        if (map == nullptr) continue;
        after[in * ports + out] = before[in * ports + out] = numbers_of(*map);
        const auto held = held_row(*node, num, in);
        if (!held) continue;
        before[in * ports + out] = numbers_of(*held);
        if (*held != *map) rows_.push_back({static_cast<NodeIndex>(*index), num, in, *held, *map});
      }
    }
  }

  /// Nothing where no packet goes by it, or it is not known.
  std::optional<wire::SlToVl> held_row(const Node& node, PortNum out, std::size_t in) const {
    const auto& held = node.ports[out.value()].held<wire::SlToVl>();
    if (!vl_tables_in_use(node, out) || !held || !held->known.test(in)) return std::nullopt;
    return held->row[in];
  }

  void add_sls() {
    // No program has SLs of a class that is new.
    const auto* sls = in_.sls_before != nullptr ? in_.sls_before : in_.decided.service_levels.get();
    change_.sls_of_layer.resize(in_.decided.routes->layers.count);
    for (std::size_t layer = 0; layer < change_.sls_of_layer.size(); ++layer) {
      auto& of_layer = change_.sls_of_layer[layer];
      if (sls == nullptr) of_layer.set(layer);
      for (std::size_t i = 0; sls != nullptr && i < sls->classes.size(); ++i)
        of_layer.set(wire_sl(sls, sls->classes[i], static_cast<unsigned>(layer)).value());
    }
    if (sls == nullptr) return;
    // Connections of classes that are gone may still have theirs.
    for (const auto& [of, sl] : sls->sls) {
      if (of.second < change_.sls_of_layer.size()) change_.sls_of_layer[of.second].set(sl.value());
    }
  }

  Round round(const routing::SlSet& done) const {
    Round round;
    round.phase = Phase::vl_tables;
    for (const auto& row : rows_) {
      auto content = row.before;
      for (std::size_t sl = 0; sl < content.vls.size(); ++sl) {
        if (done.test(sl)) content.vls.at(sl) = row.after.vls.at(sl);
      }
      round.items<wire::SlToVl>().push_back({row.node, row.out, row.in, content});
    }
    return round;
  }

  const PlanInput& in_;
  const QosPart& part_;
  const routing::Topology& topology_;
  routing::Routes routes_;
  routing::VlChange change_;
  std::vector<ChangingRow> rows_;
};

}  // namespace

VlMoves vl_moves(const PlanInput& in, const routing::Parallel& parallel, const std::stop_token& stop) {
  const auto& routes = in.decided.routes;
  if (!in.decided.qos_tables || !routes || routes->layers.count == 1 || !routes->topology) return {};
  return Moves(in).make(parallel, stop);
}

void append_in_steps(Plan& plan, std::array<Round, 4>&& before, VlMoves&& moves) {
  plan.vls_unproven = !moves.proven;
  plan.append(std::move(before[0]));
  plan.append(std::move(before[1]));
  for (auto& round : moves.rounds) plan.append(std::move(round));
  plan.append(std::move(before[2]));
  plan.append(std::move(before[3]));
}

}  // namespace smd::sm::inline planning
