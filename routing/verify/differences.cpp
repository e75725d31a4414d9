// SPDX-License-Identifier: Apache-2.0
#include "routing/verify/differences.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

namespace smd::routing::inline verify {
namespace {

/// Rows per piece of work.
constexpr std::size_t kRowsAtOnce = 16;

class Comparison {
 public:
  Comparison(const Proven& before, const Topology& topology, const LidMap& lids, const Routes& routes)
      : before_(before), topology_(topology), lids_(lids), routes_(routes) {}

  std::optional<Differences> run(std::size_t most, const Parallel& parallel) {
    if (!match_switches() || !match_parts() || !match_lids() || !rows_of_full_length()) return std::nullopt;
    found_.entries.resize(topology_.switches());
    std::atomic<std::size_t> count{0};
    for_ranges(parallel, topology_.switches(), kRowsAtOnce, [&](std::size_t begin, std::size_t end) {
      for (auto s = static_cast<SwitchIndex>(begin); s < end && count <= most; ++s) {
        compare(s);
        count += found_.entries[s].size();
      }
    });
    if (count > most) return std::nullopt;
    found_.count = count;
    return std::move(found_);
  }

 private:
  bool match_switches() {
    std::vector<bool> there(before_.topology.switches());
    for (SwitchIndex s = 0; s < topology_.switches(); ++s) {
      const auto was = before_.topology.find(topology_.guid(s));
      const bool same = was != kNoSwitch && !there[was] &&
                        topology_.ports(s) == before_.topology.ports(was) &&
                        topology_.leaf(s) == before_.topology.leaf(was) &&
                        (topology_.end_ports_of(s).empty() || !before_.topology.end_ports_of(was).empty());
      if (!same) return false;
      there[was] = true;
      found_.was.push_back(was);
    }
    for (SwitchIndex s = 0; s < there.size(); ++s) {
      if (!there[s]) found_.gone.push_back(s);
    }
    return true;
  }

  /// Whether the same switches are connected as before.
  bool match_parts() const {
    constexpr auto kNone = ~std::uint32_t{0};
    std::vector<std::uint32_t> then(topology_.components(), kNone);
    std::vector<std::uint32_t> now(before_.topology.components(), kNone);
    for (SwitchIndex s = 0; s < topology_.switches(); ++s) {
      const auto here = topology_.component(s), there = before_.topology.component(found_.was[s]);
      if (then[here] == kNone) then[here] = there;
      if (now[there] == kNone) now[there] = here;
      if (then[here] != there || now[there] != here) return false;
    }
    return true;
  }

  bool is_host(const Topology& topology, const Destination& to) const {
    return to.end != kNoEnd && topology.end_ports()[to.end].kind != EndKind::aggregation;
  }

  bool match_lids() {
    if (lids_.top() > before_.lids.top()) return false;
    for (std::uint32_t value = 1; value <= before_.lids.top().value(); ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      const auto to = lids_.destination(lid), old = before_.lids.destination(lid);
      if (to.sw == kNoSwitch) {
        if (old.sw != kNoSwitch) found_.gone_lids.push_back(lid);
        continue;
      }
      const bool same = old.sw == found_.was[to.sw] && to.port == old.port && to.offset == old.offset &&
                        (to.end == kNoEnd) == (old.end == kNoEnd) &&
                        is_host(topology_, to) == is_host(before_.topology, old);
      if (!same) return false;
    }
    return true;
  }

  bool rows_of_full_length() const {
    const auto full = [](const std::shared_ptr<const LftRow>& row, const LidMap& lids) {
      return row != nullptr && row->size() >= lids.row_size();
    };
    return routes_.rows.size() == topology_.switches() &&
           before_.rows.size() == before_.topology.switches() &&
           std::ranges::all_of(routes_.rows, [&](const auto& row) { return full(row, lids_); }) &&
           std::ranges::all_of(before_.rows, [&](const auto& row) { return full(row, before_.lids); });
  }

  bool leads_elsewhere(SwitchIndex s, PortNum port) const {
    const auto now = topology_.peer(s, port), then = before_.topology.peer(found_.was[s], port);
    if (now.sw == kNoSwitch || then.sw == kNoSwitch) return now.sw != then.sw;
    return found_.was[now.sw] != then.sw || now.port != then.port;
  }

  void compare(SwitchIndex s) {
    std::array<bool, 256> moved{};
    bool any = false;
    for (unsigned p = 1; p <= topology_.ports(s); ++p) {
      const PortNum port{static_cast<std::uint8_t>(p)};
      moved[p] = leads_elsewhere(s, port);
      any = any || moved[p];
    }
    const auto& now = *routes_.rows[s];
    const auto& then = *before_.rows[found_.was[s]];
    if (!any && &now == &then) return;
    for (std::size_t first = 0; first < lids_.row_size(); first += 64) {
      if (!any && std::memcmp(now.data() + first, then.data() + first, 64) == 0) continue;
      for (std::size_t at = first; at < first + 64; ++at) {
        const Lid lid{static_cast<std::uint16_t>(at)};
        if (now[at] == then[at] && !moved[now[at]]) continue;
        if (lids_.destination(lid).sw != kNoSwitch) found_.entries[s].push_back(lid);
      }
    }
  }

  const Proven& before_;
  const Topology& topology_;
  const LidMap& lids_;
  const Routes& routes_;
  Differences found_;
};

}  // namespace

std::optional<Differences> find_differences(const Proven& before, const RoutingContext& now,
                                            const Routes& routes, std::size_t most) {
  return Comparison(before, now.topology, now.lids, routes).run(most, now.parallel);
}

}  // namespace smd::routing::inline verify
