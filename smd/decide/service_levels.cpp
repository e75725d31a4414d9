// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/service_levels.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "smd/decide/path_layers.h"
#include "smd/decide/qos_lanes.h"

namespace smd::sm::inline decisions {
namespace {

constexpr std::size_t kSls = 16;
constexpr unsigned kLayersByPort = 8;

void add_partitions(std::set<Sl>& used, const config::PartitionPolicy& policy) {
  for (const auto& partition : policy.partitions) {
    used.insert(partition.sl);
    for (const auto& group : partition.groups) used.insert(group.sl);
  }
}

/// The class of paths that no rule of the policy matches.
Sl standard_class(const config::QosPolicy& policy) {
  if (const auto* level = policy.find_level(config::kDefaultQosLevel)) return level->sl;
  return policy.default_ulp ? policy.default_ulp->sl : Sl{0};
}

/// All but so many classes have no SLs: those that have none yet before others, the last ones first.
void leave_classes_out(SlPart& part, std::size_t most, const WireSls& kept) {
  const auto all = std::exchange(part.classes, {});
  const auto has_sls = [&](Sl one) { return one == all.front() || kept.contains({one, 0}); };
  auto known = std::min(static_cast<std::size_t>(std::ranges::count_if(all, has_sls)), most);
  auto others = most - known;
  for (const auto one : all) {
    auto& room = has_sls(one) ? known : others;
    (room != 0 ? part.classes : part.left_out).push_back(one);
    room -= room != 0 ? 1U : 0U;
  }
}

}  // namespace

bool has_layers(const SlPart& part) {
  return part.layers > 1 ||
         std::ranges::any_of(part.classes, [&](Sl one) { return wire_sl(&part, one, 0) != one; });
}

Sl wire_sl(const SlPart* part, Sl of_class, unsigned layer) {
  if (part == nullptr || part->classes.empty()) return of_class;
  const bool known = std::ranges::find(part->classes, of_class) != part->classes.end();
  const auto found =
      part->sls.find({known ? of_class : part->classes.front(), layer < part->layers ? layer : 0});
  return found != part->sls.end() ? found->second : of_class;
}

std::optional<Sl> class_of(const SlPart* part, Sl on_wire, unsigned layer) {
  if (part == nullptr || part->classes.empty()) return on_wire;
  for (const auto one : part->classes) {
    if (wire_sl(part, one, layer) == on_wire) return one;
  }
  return std::nullopt;
}

std::vector<Sl> classes_without_qos(const RoutePart* routes) {
  if (routes == nullptr || !layers_are_bits(routes->layers)) return {Sl{0}};
  return {Sl{0}, Sl{8}};
}

std::vector<Sl> classes_in_use(Sl sm_sl, const config::QosPolicy* policy,
                               const config::PartitionPolicy* partitions) {
  if (policy == nullptr) return {Sl{0}};
  std::set<Sl> used{sm_sl};
  if (partitions != nullptr) add_partitions(used, *partitions);
  for (const auto& level : policy->levels) used.insert(level.sl);
  for (const auto& ulp : policy->ulps) used.insert(ulp.sl);
  std::vector<Sl> classes;
  const auto add = [&](Sl sl) {
    if (std::ranges::find(classes, sl) == classes.end()) classes.push_back(sl);
  };
  for (const auto& one : policy->classes) add(one.sl);
  if (classes.empty()) add(standard_class(*policy));
  for (const auto sl : used) add(sl);
  return classes;
}

unsigned most_layers(std::size_t classes) {
  return static_cast<unsigned>(std::max<std::size_t>(1, kSls / std::max<std::size_t>(1, classes)));
}

SlPart decide_service_levels(const ServiceLevelsInput& in) {
  SlPart part{.classes = in.classes, .layers = 1, .sls = {}, .left_out = {}};
  const bool by_port = in.routes != nullptr && layers_are_bits(in.routes->layers);
  auto count = in.routes != nullptr ? in.routes->layers.count : 1U;
  // A bit for each dimension, also of those that this fabric does not have: as OpenSM maps SLs.
  if (by_port && part.classes.size() * kLayersByPort <= kSls) count = kLayersByPort;
  if (part.classes.size() * count > kSls)
    leave_classes_out(part, std::max<std::size_t>(1, kSls / count), in.kept);
  const auto most = most_layers(part.classes.size());
  part.layers = count;
  if (count > 1 && !by_port) part.layers = std::max(count, std::min(most, in.own_layers));
  part.sls = *wire_sls(part.classes, part.layers, in.kept, by_port);
  return part;
}

std::vector<unsigned> layer_loads(const Stored& stored, const RoutePart& routes, unsigned layers) {
  constexpr double kParts = 16;
  std::vector<double> pairs(layers);
  double sum = 0;
  std::size_t in_use = routes.layers.count;
  const auto count = [&](std::size_t switches, const routing::PairLayers& by_pair) {
    for (std::size_t a = 0; a < switches; ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        const auto layer = by_pair.at(a, b);
        if (layer >= layers) continue;
        ++pairs[layer], ++sum;
        in_use = std::max<std::size_t>(in_use, layer + 1U);
      }
    }
  };
  if (stored.layers_home && !routes.new_layers)
    count(stored.layers_home->switches.size(), stored.layers_home->layers);
  else if (routes.topology)
    count(routes.topology->switches(), routes.layers.by_pair);
  std::vector<unsigned> loads(layers);
  for (std::size_t layer = 0; layer < std::min<std::size_t>(layers, in_use); ++layer)
    loads[layer] =
        sum == 0 ? 1U : std::max(1U, static_cast<unsigned>(std::lround(kParts * pairs[layer] / sum)));
  return loads;
}

}  // namespace smd::sm::inline decisions
