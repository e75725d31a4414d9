// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/adopted_layers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <span>
#include <utility>
#include <vector>

#include "routing/verify/service_levels.h"

namespace smd::sm::inline decisions {
namespace {

constexpr std::size_t kAllSls = 16;
/// Of pairs whose SL no layer can have: there are never that many layers.
constexpr unsigned kLayerOfNone = 15;
using SlRow = std::vector<std::uint8_t>;  ///< by LID

/// Paths that the file does not name.
enum class UnsaidSl : std::uint8_t { counts_as_0, left_out };

/// How many paths of each pair of switches have which SL.
class PairSls {
 public:
  PairSls(const base::PathSlFile& file, const routing::Topology& topology, const routing::LidMap& lids,
          UnsaidSl unsaid)
      : topology_(topology),
        lids_(lids),
        unsaid_(unsaid),
        counts_(topology.switches() * (topology.switches() + 1) / 2) {
    for (const auto& end : topology.end_ports()) {
      if (end.sw != routing::kNoSwitch) add_paths(end, base::sls_from(file, end.guid, end.node));
    }
  }

  /// SL 0 first, then the others that are in use.
  std::vector<Sl> used() const {
    std::vector<Sl> sls;
    for (std::uint8_t sl = 0; sl < kAllSls; ++sl) {
      if (sl == 0 || used_[sl]) sls.emplace_back(sl);
    }
    return sls;
  }

  AdoptedLayers layers(std::vector<Sl> sls) const {
    std::array<unsigned, kAllSls> layer_of{};
    for (unsigned layer = 0; layer < sls.size(); ++layer) layer_of.at(sls[layer].value()) = layer;
    AdoptedLayers found;
    routing::PairLayers by_pair(topology_.switches());
    found.sls.paths = paths_;
    found.sls.not_said = not_said_;
    for (std::size_t high = 0; high < topology_.switches(); ++high) {
      for (std::size_t low = 0; low <= high; ++low) {
        const auto& counts = counts_[place(high, low)];
        const auto most = std::ranges::max_element(counts);
        by_pair.set(high, low, layer_of.at(static_cast<std::size_t>(most - counts.begin())));
        for (auto at = counts.begin(); at != counts.end(); ++at) found.sls.otherwise += at == most ? 0U : *at;
      }
    }
    found.layers.count = static_cast<unsigned>(sls.size());
    if (sls.size() > 1) found.layers.by_pair = std::move(by_pair);
    found.sls.sls = std::move(sls);
    return found;
  }

  /// By pair the place in `sls` of the SL that most of its paths have; kNoLayer: none is counted.
  routing::PairLayers places(std::span<const Sl> sls) const {
    routing::PairLayers places(topology_.switches(), routing::kNoLayer);
    for (std::size_t high = 0; high < topology_.switches(); ++high) {
      for (std::size_t low = 0; low < high; ++low) {
        const auto& counts = counts_[place(high, low)];
        const auto most = std::ranges::max_element(counts);
        if (*most == 0) continue;
        const Sl sl{static_cast<std::uint8_t>(most - counts.begin())};
        const auto at = std::ranges::find(sls, sl);
        places.set(high, low, at != sls.end() ? static_cast<unsigned>(at - sls.begin()) : kLayerOfNone);
      }
    }
    return places;
  }

 private:
  using Counts = std::array<std::uint32_t, kAllSls>;

  static std::size_t place(std::size_t high, std::size_t low) { return high * (high + 1) / 2 + low; }

  void add_paths(const routing::EndPort& from, const SlRow* row) {
    for (std::size_t value = 1; value < lids_.row_size(); ++value) {
      const auto to = lids_.destination(Lid{static_cast<std::uint16_t>(value)});
      if (to.sw == routing::kNoSwitch || to.end == routing::kNoEnd || to.sw == from.sw) continue;
      const auto said = row != nullptr && value < row->size() ? (*row)[value] : base::kNoSlSaid;
      ++paths_;
      not_said_ += said < kAllSls ? 0U : 1U;
      if (said >= kAllSls && unsaid_ == UnsaidSl::left_out) continue;
      const auto sl = said < kAllSls ? said : std::uint8_t{0};
      used_.set(sl);
      const auto [low, high] = std::minmax(from.sw, to.sw);
      ++counts_[place(high, low)][sl];
    }
  }

  const routing::Topology& topology_;
  const routing::LidMap& lids_;
  UnsaidSl unsaid_;
  std::vector<Counts> counts_;
  std::bitset<kAllSls> used_;
  std::uint64_t paths_ = 0, not_said_ = 0;
};

}  // namespace

std::expected<AdoptedLayers, std::string> adopted_layers(const base::PathSlFile& file,
                                                         const routing::Topology& topology,
                                                         const routing::LidMap& lids, unsigned most) {
  const PairSls pairs(file, topology, lids, UnsaidSl::counts_as_0);
  auto sls = pairs.used();
  if (sls.size() > most)
    return std::unexpected(fmt::format("its paths use SLs {}: {} layers are possible, {} are needed",
                                       fmt::join(sls, ", "), most, sls.size()));
  return pairs.layers(std::move(sls));
}

FirstLayers first_layers(const base::PathSlFile& file, const routing::Topology& topology,
                         const routing::LidMap& lids, unsigned most) {
  const PairSls pairs(file, topology, lids, UnsaidSl::left_out);
  FirstLayers found;
  found.sls = pairs.used();
  if (found.sls.size() > most) found.sls.resize(most);
  found.layers = pairs.places(found.sls);
  return found;
}

routing::PairLayers sls_as_layers(const base::PathSlFile& file, const routing::Topology& topology,
                                  const routing::LidMap& lids, unsigned layers) {
  std::vector<Sl> sls;
  for (unsigned sl = 0; sl < layers; ++sl) sls.emplace_back(static_cast<std::uint8_t>(sl));
  return PairSls(file, topology, lids, UnsaidSl::left_out).places(sls);
}

std::uint64_t paths_with_unknown_sl(const RoutePart& routes) {
  const bool any_will_do = routes.verification.fixed_sl_ok && !routes.layers.vls.by_port();
  return routes.adopted_sls && !any_will_do ? routes.adopted_sls->not_said : 0;
}

std::string fault_on_adopted_sls(const base::PathSlFile& file, const AdoptedLayers& found,
                                 const routing::RoutingContext& in, const routing::Routes& routes) {
  routing::ServiceLevels levels;
  for (unsigned layer = 0; layer < found.sls.sls.size(); ++layer)
    levels.elsewhere.at(found.sls.sls[layer].value()) = static_cast<std::uint8_t>(layer);
  for (const auto& end : in.topology.end_ports()) {
    const auto* row = base::sls_from(file, end.guid, end.node);
    levels.path_sl.push_back(row != nullptr ? *row : SlRow{});
  }
  const auto check = routing::check_service_levels(in, routes, levels);
  if (check.reverse_loops == 0) return {};
  if (check.credit_loops != 0) return fmt::format("its SLs leave {} credit loops", check.credit_loops);
  return fmt::format("{} credit loops where answers go back on the SL of the request", check.reverse_loops);
}

}  // namespace smd::sm::inline decisions
