// SPDX-License-Identifier: Apache-2.0
// Checks that need more than one key.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "config/loader.h"
#include "config/partition_sources.h"
#include "config/port_references.h"
#include "config/qos_sources.h"
#include "config/replica_key.h"

namespace smd::config {
namespace {

bool uses_engine(const RoutingConfig& routing, std::string_view name) {
  return std::ranges::find(routing.engines, name) != routing.engines.end();
}

}  // namespace

void Loader::check_whole() {
  check_lids(base_);
  for (const auto& layer : subnets_) check_lids(layer);
  if (all_was_read_) {
    warn_of_unused_policy_file();
    check_engine_options();
    check_api(base_);
    check_routing(base_);
    check_keys(base_);
    check_partitions(base_);
    check_qos_policies(base_);
    check_priorities(base_);
    check_replica(base_);
    for (const auto& layer : subnets_)
      check_routing(layer), check_keys(layer), check_partitions(layer), check_qos_policies(layer),
          check_priorities(layer), check_replica(layer);
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
  if (layer.broken.contains("routing")) return;
  if (routing.engines.size() > 1 && uses_engine(routing, "auto"))
    complain(layer, "routing.engines", "\"auto\" alone: it stands for all engines");
  for (const auto& engine : routing.engines) {
    if (std::ranges::find(context_.layered_engines, engine) == context_.layered_engines.end()) continue;
    if (routing.path_sl == PathSl::asked) continue;
    complain(
        layer, "routing.engines",
        fmt::format("no \"{}\" unless routing.path_sl is \"asked\": clients must use the SL of each path",
                    engine));
  }
  if (!layer.settings.subnet.adopt.path_sl_file.empty() && routing.path_sl != PathSl::asked)
    complain(layer, "adopt.path_sl", "no file unless routing.path_sl is \"asked\": all paths have one SL");
  if (routing.tables_file.empty() && uses_engine(routing, "file"))
    complain(layer, "routing.engines", "\"file\" only where routing.tables_file names its file");
}

/// An option that no subnet's engines use would be ignored. One that stands outside of [[subnet]] is for
/// those subnets whose engines do.
void Loader::check_engine_options() {
  std::vector<const Layer*> layers;
  for (const auto& layer : subnets_) layers.push_back(&layer);
  if (layers.empty()) layers.push_back(&base_);
  const auto check = [&](std::string_view key, const auto& is_used, const std::string& engines) {
    for (const auto* layer : layers) {
      const auto at = layer->places.find(key);
      if (at == layer->places.end() || layer->broken.contains("routing")) continue;
      const bool used = std::ranges::any_of(layers, [&](const Layer* other) {
        const auto same = other->places.find(key);
        return same != other->places.end() && same->second == at->second &&
               is_used(other->settings.subnet.routing);
      });
      if (!used)
        complain(*layer, key,
                 fmt::format("it only with {} in routing.engines: no other engine uses it", engines));
    }
  };
  check(
      "routing.tables_file",
      [](const RoutingConfig& routing) {
        return routing.tables_file.empty() || uses_engine(routing, "file");
      },
      "\"file\"");
  check(
      "routing.torus_file",
      [](const RoutingConfig& routing) {
        const bool any_layered = uses_engine(routing, "auto") && routing.path_sl == PathSl::asked;
        return !routing.torus || uses_engine(routing, "torus-2QoS") || any_layered;
      },
      "\"torus-2QoS\", or \"auto\" and routing.path_sl \"asked\",");
  const auto check_list = [&](std::string_view key, std::vector<Guid> RoutingConfig::* list,
                              const std::vector<std::string>& engines) {
    check(
        key,
        [&](const RoutingConfig& routing) {
          return (routing.*list).empty() || uses_engine(routing, "auto") ||
                 std::ranges::any_of(engines, [&](const auto& name) { return uses_engine(routing, name); });
        },
        fmt::format("\"{}\" or \"auto\"", fmt::join(engines, "\", \"")));
  };
  check_list("routing.root_guids", &RoutingConfig::root_guids, context_.rooted_engines);
  check_list("routing.compute_nodes", &RoutingConfig::compute_nodes, context_.spreading_engines);
  check_list("routing.io_nodes", &RoutingConfig::io_nodes, context_.spreading_engines);
}

void Loader::check_keys(const Layer& layer) {
  const auto& subnet = layer.settings.subnet;
  if (layer.broken.contains("sm") || layer.broken.contains("keys")) return;
  if (!subnet.sm.key_file.empty() && !subnet.keys.sm_key_file.empty())
    complain(layer, "sm.key_file", "only one of it and keys.sm_key_file");
  if (!subnet.keys.m_key_file.empty()) return;
  const KeysConfig defaults;
  const auto useless = [&](const char* key, bool is_default) {
    if (!is_default) complain(layer, key, "keys.m_key_file beside it");
  };
  useless("keys.m_key_level", subnet.keys.m_key_level == defaults.m_key_level);
  useless("keys.m_key_lease", subnet.keys.m_key_lease == defaults.m_key_lease);
  useless("keys.m_key_per_port", subnet.keys.m_key_per_port == defaults.m_key_per_port);
}

/// TLS needs both.
void Loader::check_api(const Layer& layer) {
  const auto& api = layer.settings.api;
  if (layer.broken.contains("api") || api.listen.empty()) return;
  if (api.cert.empty() || api.key.empty()) complain(layer, "api.listen", "api.cert and api.key beside it");
}

/// Its certificates prove both ends; nothing else does, and there is no second way beside it.
void Loader::check_etcd(const Layer& layer, bool certificates) {
  const auto& ha = layer.settings.subnet.ha;
  if (!ha.peers.empty() || !ha.listen.empty()) {
    complain(layer, "ha.etcd", "either it, or ha.listen and ha.peers");
  } else if (!ha.psk_file.empty()) {
    complain(layer, "ha.psk_file", "ha.cert, ha.key and ha.ca with ha.etcd");
  } else if (!certificates) {
    complain(layer, "ha.etcd", "ha.cert, ha.key and ha.ca beside it");
  }
}

namespace {

/// Layers that share the policy find the same.
void add_once(std::vector<ConfigError>& into, const std::vector<ConfigError>& from) {
  for (const auto& one : from) {
    if (std::ranges::find(into, one) == into.end()) into.push_back(one);
  }
}

}  // namespace

/// A pair whose state is not copied is a plain one of IBA: no reason to leave the fabric without an SM.
void Loader::check_replica_key(const Layer& layer) {
  const auto& ha = layer.settings.subnet.ha;
  if (ha.psk_file.empty() || !ha.psk.empty()) return;
  const auto read = read_replica_key(ha.psk_file, context_);
  warn_of(layer, "ha.psk_file",
          (read ? ha.psk_file + ": was not readable" : read.error()) + ": the state is not copied",
          "correct it, then restart");
}

/// Each SM copies from those that it names, and gives to those that connect: a pair has both at both ends.
void Loader::warn_of_one_way_copy(const Layer& layer) {
  const auto& ha = layer.settings.subnet.ha;
  const bool in_force = &layer != &base_ || subnets_.empty();
  if (!in_force || ha.listen.empty() == ha.peers.empty()) return;
  const bool gives = ha.peers.empty();
  warn_of(layer, gives ? "ha.listen" : "ha.peers",
          gives ? "without ha.peers this SM copies nothing while it is standby"
                : "without ha.listen no standby copies the state of this SM while it is master",
          "set both, at each SM");
}

void Loader::warn_of(const Layer& layer, std::string_view key, std::string what, std::string hint) {
  ConfigError warning{
      .key = layer.prefix + std::string(key), .expected = std::move(what), .hint = std::move(hint)};
  const auto at = layer.places.find(key);
  if (at != layer.places.end()) warning.file = at->second.file, warning.line = at->second.line;
  add_once(warnings_, {warning});
}

/// Both ends of a copy have to prove who they are, in one of two ways.
void Loader::check_replica(const Layer& layer) {
  const auto& ha = layer.settings.subnet.ha;
  if (layer.broken.contains("ha")) return;
  if (!ha.copies()) {
    // Outside of [[subnet]] the mode may be for those that have peers.
    const bool in_force = &layer != &base_ || subnets_.empty();
    if (ha.mode != HaMode::async && in_force)
      complain(layer, "ha.mode", "\"async\", as nothing copies: no ha.peers, ha.listen and ha.etcd");
    return;
  }
  const bool certificates = !ha.cert.empty() || !ha.key.empty() || !ha.ca.empty();
  const bool whole = !ha.cert.empty() && !ha.key.empty() && !ha.ca.empty();
  if (!ha.etcd.empty()) return check_etcd(layer, whole);
  const auto* key = ha.peers.empty() ? "ha.listen" : "ha.peers";
  if (certificates && !ha.psk_file.empty()) {
    complain(layer, "ha.psk_file", "only one of it and ha.cert");
  } else if (!whole && ha.psk_file.empty()) {
    complain(layer, key, "ha.psk_file, or ha.cert, ha.key and ha.ca, beside it");
  } else {
    check_replica_key(layer);
    warn_of_one_way_copy(layer);
  }
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
  const auto file = file_.string();
  const auto groups = port_lists_of_groups(subnet), partitions = port_lists_of_partitions(subnet);
  std::vector<ConfigError> wrong;
  for (auto& found : {missing_groups(groups, subnet, file), missing_groups(partitions, subnet, file),
                      nested_partitions(partitions, file)})
    wrong.insert(wrong.end(), found.begin(), found.end());
  for (auto& error : wrong) put_at_its_place(layer, error);
  if (!wrong.empty()) return add_once(policy_errors_, wrong);
  auto merged = merge_partitions(partition_sources(subnet));
  if (!merged) return add_once(policy_errors_, merged.error());
  add_once(warnings_, subnet.partitions.conf.warnings);
  add_once(warnings_, merged->warnings);
  auto unknown = missing_partitions(groups, merged->policy, file);
  for (auto& warning : unknown) put_at_its_place(layer, warning);
  add_once(warnings_, unknown);
  const bool remove = subnet.adopt.foreign_pkeys == ForeignPKeys::remove && !layer.broken.contains("adopt");
  if (remove && merged->policy.find(kDefaultPartition)->sources.size() < 2)
    complain(layer, "adopt.foreign_pkeys", "\"keep\", as no default partition (0x7fff) is defined");
}

/// Of a broken partition or group it is not known what the policy refers to.
void Loader::check_qos_policies(const Layer& layer) {
  for (const auto* table : {"partitions", "partition", "group", "qos"}) {
    if (layer.broken.contains(table)) return;
  }
  const auto& subnet = layer.settings.subnet;
  check_class_conflicts(layer);
  auto found = check_qos(subnet, file_.string());
  for (auto* notes : {&found.errors, &found.warnings}) {
    for (auto& note : *notes) put_at_its_place(layer, note);
  }
  add_once(qos_errors_, found.errors);
  add_once(warnings_, subnet.qos.conf.warnings);
  add_once(warnings_, found.warnings);
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
