// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/fabric/in_force.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "mad/sim/agents/links.h"
#include "mad/wire/mad.h"

namespace smd::sim {
namespace {

using Faulty = std::vector<std::string>;

double chance_of(std::uint32_t loss) { return loss / 4294967295.0; }

void add_loss(Faulty& faults, double chance, std::string_view of = "") {
  if (chance > 0) faults.push_back(fmt::format("loss {:.4g} %{}", chance * 100, of));
}

double in_microseconds(Duration time) { return std::chrono::duration<double, std::micro>(time).count(); }
double in_seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

void add_links(const State& state, PortIndex index, Faulty& faults) {
  const auto& port = state.ports[index];
  if (port.cut) faults.emplace_back("cut");
  if (const auto* flap = flap_of(state, index)) {
    faults.push_back(fmt::format("flaps every {:.4g} s", in_seconds(flap->period)));
  }
  if (port.split) faults.emplace_back("split");
  if (port.disabled) faults.emplace_back("disabled by the SM");
  if (port.peer == kNowhere) return add_loss(faults, chance_of(port.loss));
  const auto& peer = state.ports[port.peer];
  if (peer.disabled && port.peer != index) faults.emplace_back("other end disabled by the SM");
  if (state.nodes[peer.node].gone) faults.emplace_back("other end away");
  add_loss(faults, 1 - (1 - chance_of(port.loss)) * (1 - chance_of(peer.loss)));
  const Duration latency{std::int64_t{port.extra_latency} + peer.extra_latency};
  if (latency != Duration{0}) faults.push_back(fmt::format("latency {:.7g} us", in_microseconds(latency)));
}

void add_keys(const Port& port, Faulty& faults) {
  if (port.info.m_key != 0) {
    faults.push_back(
        fmt::format("M_Key 0x{:x} level {}", port.info.m_key, unsigned{port.info.m_key_protect}));
  }
  if (!port.tables || port.tables->pkeys.empty()) return;
  const auto key = port.tables->pkeys.front();
  if (key != 0xFFFF) faults.push_back(fmt::format("P_Key[0] 0x{:04x}", key));
}

void add_adaptive(const SwitchTables& sw, Faulty& faults) {
  if (!sw.adaptive || !sw.adaptive->info.enabled) return;
  constexpr std::size_t kNamed = 4;
  Faulty groups;
  for (const auto& [lid, ports] : sw.adaptive->groups) {
    if (groups.size() == kNamed) break;
    groups.push_back(fmt::format("LID {} by {}", lid, fmt::join(ports, "|")));
  }
  if (groups.size() < sw.adaptive->groups.size())
    groups.push_back(fmt::format("{} more", sw.adaptive->groups.size() - groups.size()));
  faults.push_back(groups.empty() ? std::string("routes adaptively")
                                  : fmt::format("routes adaptively: {}", fmt::join(groups, "; ")));
}

}  // namespace

Faulty in_force(const State& state) {
  Faulty faults;
  add_loss(faults, chance_of(state.loss), " of all MADs");
  add_loss(faults, chance_of(state.rmpp_loss), " of RMPP segments and acknowledgements");
  const auto& latency = state.options.latency;
  if (latency.hop != Duration{0})
    faults.push_back(fmt::format("a hop takes {:.7g} us", in_microseconds(latency.hop)));
  if (latency.service != Duration{0})
    faults.push_back(fmt::format("an agent takes {:.7g} us", in_microseconds(latency.service)));
  return faults;
}

Faulty in_force(const State& state, const Node& node) {
  Faulty faults;
  const auto* wrong = node.faults.get();
  if (node.gone) {
    const bool returns = wrong != nullptr && wrong->back;
    faults.push_back(returns ? fmt::format("away, back in {:.4g} s", in_seconds(*wrong->back - state.now))
                             : std::string("away"));
  }
  if (node.is_switch()) add_adaptive(*node.sw, faults);
  if (wrong == nullptr) return faults;
  if (wrong->silent) faults.emplace_back("silent");
  if (wrong->late != Duration{0})
    faults.push_back(fmt::format("slow {:.7g} ms", in_microseconds(wrong->late) / 1e3));
  add_loss(faults, chance_of(wrong->loss));
  Faulty names;
  for (const auto attribute : wrong->answers_only) names.push_back(wire::attribute_name(attribute));
  if (!names.empty()) faults.push_back(fmt::format("answers only {}", fmt::join(names, " and ")));
  for (const auto& each : wrong->refusals) {
    faults.push_back(fmt::format("refuses {}{} with 0x{:02x}", each.sets_only ? "Sets of " : "",
                                 each.attribute == 0 ? "everything" : wire::attribute_name(each.attribute),
                                 each.status));
  }
  for (const auto& each : wrong->forgets)
    faults.push_back(fmt::format("forgets {} of {}", each.field, wire::attribute_name(each.attribute)));
  if (wrong->above_top == AboveTop::ignored) faults.emplace_back("ignores LFT blocks above LinearFDBTop");
  if (wrong->above_top == AboveTop::refused) faults.emplace_back("refuses LFT blocks above LinearFDBTop");
  if (wrong->no_smi) faults.emplace_back("has no SMI");
  if (wrong->extended_speeds_status != 0) faults.emplace_back("refuses extended speeds");
  if (wrong->ignores_extended_speeds) faults.emplace_back("ignores extended speeds");
  return faults;
}

Faulty in_force(const State& state, PortIndex index) {
  const auto& port = state.ports[index];
  Faulty faults;
  add_links(state, index, faults);
  add_keys(port, faults);
  if (!port.tables || !port.tables->counters) return faults;
  for (unsigned i = 0; i < kCounters; ++i) {
    const auto counter = static_cast<Counter>(i);
    const auto rate = port.tables->counters->rate(counter);
    if (rate > 0) faults.push_back(fmt::format("{} grows {:.7g}/s", name_of(counter), rate));
  }
  return faults;
}

}  // namespace smd::sim
