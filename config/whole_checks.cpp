// SPDX-License-Identifier: Apache-2.0
// Checks that need more than one key.
#include <fmt/format.h>

#include <algorithm>

#include "config/loader.h"
#include "config/partition_sources.h"

namespace smd::config {

void Loader::check_whole() {
  check_lids(base_);
  for (const auto& layer : subnets_) check_lids(layer);
  if (all_was_read_) {
    check_routing(base_);
    check_keys(base_);
    check_partitions(base_);
    check_priorities(base_);
    for (const auto& layer : subnets_)
      check_routing(layer), check_keys(layer), check_partitions(layer), check_priorities(layer);
  }
  check_subnets();
}

/// Adds an error at the place where `key` was set; once, though several subnets share the place.
void Loader::complain(const Layer& layer, std::string_view key, std::string expected,
                      std::string_view found) {
  ConfigError error{.file = file_.string(), .key = layer.prefix + std::string(key)};
  if (const auto at = layer.places.find(key); at != layer.places.end()) error = at->second;
  error.expected = std::move(expected);
  if (!found.empty()) error.found = found;
  if (std::ranges::find(errors_, error) == errors_.end()) errors_.push_back(std::move(error));
}

void Loader::check_lids(const Layer& layer) {
  if (layer.broken.contains("lids")) return;
  const auto is_set = [&](std::string_view key) { return layer.places.contains(key); };
  if (!all_was_read_ && !(is_set("lids.first") && is_set("lids.last"))) return;
  const auto& lids = layer.settings.subnet.lids;
  const unsigned first = lids.first.value();
  const unsigned last = lids.last.value();
  if (first > last) {
    if (is_set("lids.last"))
      return complain(layer, "lids.last", fmt::format("lids.first ({}) or more", first));
    return complain(layer, "lids.first", fmt::format("lids.last ({}) or less", last));
  }
  // The LIDs of one port are a block that starts at a multiple of its size.
  const unsigned block = 1U << lids.lmc.value_or(0);
  const unsigned begin = (first + block - 1) / block * block;
  if (begin + block - 1 <= last) return;
  complain(layer, is_set("lids.lmc") ? "lids.lmc" : "lids.last",
           fmt::format("an LMC whose {} LIDs, beginning at a multiple of {}, fit between lids.first ({}) and "
                       "lids.last ({})",
                       block, block, first, last));
}

void Loader::check_routing(const Layer& layer) {
  const auto& routing = layer.settings.subnet.routing;
  if (layer.broken.contains("routing") || !routing.tables_file.empty()) return;
  if (std::ranges::find(routing.engines, "file") != routing.engines.end())
    complain(layer, "routing.engines", "\"file\" only where routing.tables_file names its file");
}

void Loader::check_keys(const Layer& layer) {
  const auto& subnet = layer.settings.subnet;
  if (layer.broken.contains("sm") || layer.broken.contains("keys")) return;
  if (!subnet.sm.key_file.empty() && !subnet.keys.sm_key_file.empty())
    complain(layer, "sm.key_file", "only one of it and keys.sm_key_file");
}

void Loader::check_priorities(const Layer& layer) {
  const auto& sm = layer.settings.subnet.sm;
  if (layer.broken.contains("sm") || !sm.master_priority || *sm.master_priority >= sm.priority) return;
  complain(layer, "sm.master_priority", fmt::format("sm.priority ({}) or more", sm.priority));
}

/// The partitions of smd.toml and of OpenSM's file have to fit together. Layers that share them find the
/// same.
void Loader::check_partitions(const Layer& layer) {
  for (const auto* table : {"partitions", "partition", "group"}) {
    if (layer.broken.contains(table)) return;
  }
  const auto& subnet = layer.settings.subnet;
  const auto add_once = [](std::vector<ConfigError>& into, const std::vector<ConfigError>& from) {
    for (const auto& one : from) {
      if (std::ranges::find(into, one) == into.end()) into.push_back(one);
    }
  };
  auto merged = merge_partitions(partition_sources(subnet, file_.string()));
  if (!merged) return add_once(policy_errors_, merged.error());
  add_once(warnings_, subnet.partitions.conf.warnings);
  add_once(warnings_, merged->warnings);
  const bool remove = subnet.adopt.foreign_pkeys == ForeignPKeys::remove && !layer.broken.contains("adopt");
  if (remove && merged->policy.find(kDefaultPartition)->sources.size() < 2)
    complain(layer, "adopt.foreign_pkeys", "\"keep\", as no default partition (0x7fff) is defined");
}

void Loader::check_subnets() {
  std::map<std::string, unsigned> seen;
  const auto once = [&](const Layer& layer, std::string_view key, const std::string& value) {
    if (value.empty()) return;
    const auto line = layer.places.contains(key) ? layer.places.find(key)->second.line : 0;
    const auto [at, fresh] = seen.emplace(fmt::format("{} {}", key, value), line);
    if (!fresh)
      complain(layer, key, fmt::format("one that no other subnet has; line {} has it already", at->second));
  };
  for (const auto& layer : subnets_) {
    if (layer.broken.contains("subnet")) continue;
    const auto& subnet = layer.settings.subnet;
    once(layer, "subnet.name", subnet.name);
    once(layer, "subnet.port", subnet.port);
    if (subnet.port_guid) once(layer, "subnet.port_guid", fmt::format("{}", *subnet.port_guid));
    if (subnet.port_guid && !subnet.port.empty())
      complain(layer, "subnet.port_guid", "only one of port and port_guid");
    if (all_was_read_ && subnets_.size() > 1 && !subnet.port_guid && subnet.port.empty()) {
      complain(layer, "subnet", "a port or a port_guid, as there are several subnets",
               "neither port nor port_guid");
    }
  }
}

}  // namespace smd::config
