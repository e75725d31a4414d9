// SPDX-License-Identifier: Apache-2.0
#include "smd/policy/accepted.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value_to.hpp>
#include <exception>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "config/describe.h"
#include "config/fabric_settings.h"
#include "config/kept_names.h"
#include "config/partition_sources.h"
#include "config/partitions.h"
#include "config/qos_classes.h"
#include "config/qos_sources.h"
#include "mad/base/gid.h"
#include "smd/policy/accepted_m_keys.h"
#include "smd/policy/json_values.h"
#include "smd/policy/qos_json.h"

namespace smd::policy {
namespace {

namespace json = boost::json;
using config::GroupSettings;
using config::PartitionDefinition;
using config::PolicySource;

json::object source_json(const PolicySource& source) {
  return {{"origin", std::to_underlying(source.origin)}, {"line", source.line}};
}

PolicySource source_at(const json::value& object) {
  const auto& source = object.at("source");
  return {.origin = static_cast<config::PolicyOrigin>(number_at<std::uint8_t>(source, "origin", 3)),
          .line = number_at<unsigned>(source, "line", 0xffffffff)};
}

json::object settings_json(const GroupSettings& settings) {
  return {{"mtu", std::to_underlying(settings.mtu)},
          {"rate", settings.rate},
          {"sl", settings.sl.value()},
          {"scopes", settings.scopes},
          {"qkey", settings.qkey},
          {"tclass", settings.tclass},
          {"flow_label", settings.flow_label}};
}

GroupSettings settings_at(const json::value& object) {
  const auto& from = object.at("settings");
  return {.mtu = static_cast<Mtu>(number_at<std::uint8_t>(from, "mtu", 5)),
          .rate = number_at<std::uint8_t>(from, "rate", 63),
          .sl = Sl{number_at<std::uint8_t>(from, "sl", 15)},
          .scopes = number_at<std::uint16_t>(from, "scopes", 0xffff),
          .qkey = number_at<std::uint32_t>(from, "qkey", 0xffffffff),
          .tclass = number_at<std::uint8_t>(from, "tclass", 0xff),
          .flow_label = number_at<std::uint32_t>(from, "flow_label", 0xfffff)};
}

json::object definition_json(const PartitionDefinition& one) {
  json::array groups, members;
  for (const auto& group : one.groups)
    groups.push_back(json::object{{"mgid", to_string(group.mgid)},
                                  {"settings", settings_json(group.settings)},
                                  {"source", source_json(group.source)}});
  for (const auto& rule : one.members)
    members.push_back(json::object{{"ports", ports_json(rule.ports)},
                                   {"membership", std::to_underlying(rule.membership)},
                                   {"index0", rule.index0},
                                   {"source", source_json(rule.source)}});
  return {{"name", one.name},
          {"pkey", one.pkey.value_or(0)},
          {"ipoib", one.ipoib},
          {"settings", settings_json(one.settings)},
          {"groups", std::move(groups)},
          {"members", std::move(members)},
          {"source", source_json(one.source)}};
}

PartitionDefinition definition_of(const json::value& from) {
  PartitionDefinition one{.name = text_at(from, "name"), .ipoib = from.at("ipoib").as_bool()};
  if (const auto pkey = number_at<std::uint16_t>(from, "pkey", 0x7fff); pkey != 0) one.pkey = pkey;
  one.settings = settings_at(from);
  one.source = source_at(from);
  for (const auto& group : from.at("groups").as_array()) {
    const auto mgid = base::parse_mgid(text_at(group, "mgid"));
    if (!mgid) throw std::invalid_argument("mgid");
    one.groups.push_back({.mgid = *mgid, .settings = settings_at(group), .source = source_at(group)});
  }
  for (const auto& rule : from.at("members").as_array())
    one.members.push_back(
        {.ports = ports_of(rule.at("ports")),
         .membership = static_cast<config::Membership>(number_at<std::uint8_t>(rule, "membership", 2)),
         .index0 = rule.at("index0").as_bool(),
         .source = source_at(rule)});
  return one;
}

json::array definitions_json(const std::vector<PartitionDefinition>& definitions) {
  json::array list;
  for (const auto& one : definitions) list.push_back(definition_json(one));
  return list;
}

std::vector<PartitionDefinition> definitions_of(const json::value& list) {
  std::vector<PartitionDefinition> definitions;
  for (const auto& one : list.as_array()) definitions.push_back(definition_of(one));
  return definitions;
}

config::PartitionSources sources_at(const json::value& from) {
  config::PartitionSources sources{.toml_file = text_at(from, "toml_file"),
                                   .conf_file = text_at(from, "conf_file")};
  sources.toml = definitions_of(from.at("toml"));
  sources.conf = definitions_of(from.at("conf"));
  for (const auto& [name, ports] : from.at("groups").as_object()) sources.groups[name] = ports_of(ports);
  sources.allow_both_pkeys = from.at("allow_both_pkeys").as_bool();
  sources.api_pkeys = {number_at<std::uint16_t>(from, "api_first", 0x7ffe),
                       number_at<std::uint16_t>(from, "api_last", 0x7ffe)};
  return sources;
}

/// A partition without a name is called by its number.
bool is_nameless(const config::PolicyPartition& partition) {
  return partition.sources.front().origin == config::PolicyOrigin::file &&
         partition.name == fmt::format("{:04x}", partition.pkey.value());
}

/// By KeptNames the numbers that partitions without one have got.
json::object automatic_pkeys(const config::PartitionPolicy& merged) {
  std::vector<const config::PolicyPartition*> automatic;
  for (const auto& partition : merged.partitions) {
    if (partition.automatic) automatic.push_back(&partition);
  }
  // As they were merged.
  std::ranges::sort(automatic, {}, [](const auto* one) {
    return std::pair(one->runs.empty() ? 0U : one->runs.front().order, one->pkey);
  });
  config::KeptNames names;
  json::object pkeys;
  for (const auto* one : automatic) {
    const auto name = is_nameless(*one) ? std::string_view() : std::string_view(one->name);
    pkeys[names.next(one->sources.front().origin, name)] = one->pkey.value();
  }
  return pkeys;
}

/// Empty in a text of an older version.
config::FabricSettings settings_in(const json::value& from) {
  config::FabricSettings settings;
  const auto* values = from.as_object().if_contains("settings");
  if (values == nullptr) return settings;
  for (const auto& [path, value] : values->as_object()) settings.values[path] = value.as_string();
  if (from.as_object().contains("torus")) settings.torus = text_at(from, "torus");
  return settings;
}

/// An empty one where the files had none.
config::QosPolicy qos_at(const json::value& from) {
  const auto* qos = from.as_object().if_contains("qos");
  return qos != nullptr ? qos_policy_at(*qos) : config::QosPolicy{};
}

}  // namespace

std::string accepted_text(const config::SubnetConfig& config, const config::PartitionPolicy* merged) {
  const auto sources = config::partition_sources(config);
  json::object groups;
  for (const auto& [name, ports] : sources.groups) groups[name] = ports_json(ports);
  json::object text{{"enforcement", std::to_underlying(config.partitions.enforcement)},
                    {"enforcement_required", config.partitions.enforcement_required},
                    {"allow_both_pkeys", sources.allow_both_pkeys},
                    {"api_first", sources.api_pkeys.first},
                    {"api_last", sources.api_pkeys.second},
                    {"toml_file", sources.toml_file},
                    {"conf_file", sources.conf_file},
                    {"groups", std::move(groups)},
                    {"toml", definitions_json(sources.toml)},
                    {"conf", definitions_json(sources.conf)}};
  const auto qos = config::qos_policy_of(config);
  if (!qos.empty()) text["qos"] = qos_json(qos);
  const auto fabric = config::fabric_settings(config);
  json::object settings;
  for (const auto& [path, value] : fabric.values) settings[path] = value;
  text["settings"] = std::move(settings);
  if (!fabric.torus.empty()) text["torus"] = fabric.torus;
  text["m_keys"] = m_keys_json(config.keys);
  if (auto pkeys = merged != nullptr ? automatic_pkeys(*merged) : json::object(); !pkeys.empty())
    text["pkeys"] = std::move(pkeys);
  return json::serialize(text);
}

AcceptedDifferences accepted_differences(const std::string& theirs, const std::string& ours) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kNames{
      {{"enforcement", "partitions.enforcement"},
       {"enforcement_required", "partitions.enforcement_required"},
       {"allow_both_pkeys", "partitions.allow_both_pkeys"},
       {"api_first", "partitions.api_pkeys"},
       {"groups", "group"},
       {"toml", "partition"},
       {"conf", "partitions.file"},
       {"qos", "qos"},
       {"torus", "routing.torus_file"}}};
  AcceptedDifferences found;
  boost::system::error_code error, other;
  const auto a = json::parse(theirs, error), b = json::parse(ours, other);
  if (error || other || !a.is_object() || !b.is_object()) return found;
  const auto at = [](const json::value& from, std::string_view key) {
    const auto* value = from.as_object().if_contains(key);
    return value != nullptr ? *value : json::value();
  };
  for (const auto& [key, name] : kNames) {
    auto was = at(a, key), is = at(b, key);
    for (auto* one : {&was, &is}) {  // two nodes may have the same policy in files of different names
      if (key == "qos" && one->is_object()) one->as_object().erase("file");
    }
    if (was != is) found.keys.emplace_back(name);
  }
  add_m_key_differences(at(a, "m_keys"), at(b, "m_keys"), found);
  const auto was = at(a, "settings"), is = at(b, "settings");
  if (!was.is_object() || !is.is_object()) return found;  // of an older version
  for (const auto& [path, value] : was.as_object()) {
    const auto mine = at(is, path);
    if (!mine.is_string() || !value.is_string() || mine == value) continue;
    found.keys.emplace_back(path);
    found.values.push_back(fmt::format("{} {} -> {}", std::string_view(path),
                                       config::shortened(std::string(value.as_string())),
                                       config::shortened(std::string(mine.as_string()))));
  }
  return found;
}

std::expected<void, std::string> restore_accepted(const std::string& text, config::SubnetConfig& into) {
  try {
    const auto from = json::parse(text);
    auto sources = sources_at(from);
    if (auto merged = config::merge_partitions(sources); !merged)
      return std::unexpected(to_string(merged.error().front()));
    auto qos = std::make_shared<const config::QosPolicy>(qos_at(from));
    auto& partitions = into.partitions;
    partitions.enforcement =
        static_cast<config::Enforcement>(number_at<std::uint8_t>(from, "enforcement", 3));
    partitions.enforcement_required = from.at("enforcement_required").as_bool();
    partitions.allow_both_pkeys = sources.allow_both_pkeys;
    partitions.api_pkeys = sources.api_pkeys;
    partitions.accepted = std::make_shared<const config::PartitionSources>(std::move(sources));
    into.qos.accepted = std::move(qos);
    return {};
  } catch (const std::exception& error) {
    return std::unexpected(error.what());
  }
}

std::expected<void, std::string> restore_accepted_settings(const std::string& text,
                                                           const config::ConfigContext& context,
                                                           config::SubnetConfig& into) {
  try {
    const auto from = json::parse(text);
    const auto settings = settings_in(from);
    auto keys = into.keys;
    if (const auto* m_keys = from.as_object().if_contains("m_keys")) restore_m_keys(*m_keys, keys);
    // A text of an older version has none.
    auto restored = settings.values.empty() ? std::expected<void, std::string>{}
                                            : config::restore_fabric_settings(settings, context, into);
    if (restored) into.keys = std::move(keys);
    return restored;
  } catch (const std::exception& error) {
    return std::unexpected(error.what());
  }
}

AcceptedPKeys accepted_pkeys(const std::string& text) {
  AcceptedPKeys found;
  try {
    const auto from = json::parse(text);
    if (const auto* pkeys = from.as_object().if_contains("pkeys")) {
      for (const auto& [name, pkey] : pkeys->as_object())
        found.chosen.emplace(name, number_at<std::uint16_t>(*pkeys, std::string(name).c_str(), 0x7ffe));
    }
    const auto sources = sources_at(from);
    for (const auto* list : {&sources.toml, &sources.conf}) {
      for (const auto& one : *list) {
        if (one.pkey) found.given.insert(*one.pkey);
      }
    }
    found.nameless = nameless_partitions(sources.conf, found);
    return found;
  } catch (const std::exception&) {
    return {};
  }
}

config::ClassSls accepted_sls(const std::string& text) {
  try {
    const auto policy = qos_at(json::parse(text));
    return config::class_sls({.all = policy.classes}, {});
  } catch (const std::exception&) {
    return {};
  }
}

std::expected<void, std::string> restore_accepted_tables(const std::string& text,
                                                         const config::ConfigContext& context,
                                                         config::SubnetConfig& into) {
  try {
    return config::restore_qos_tables(settings_in(json::parse(text)), context, into);
  } catch (const std::exception& error) {
    return std::unexpected(error.what());
  }
}

std::expected<void, std::string> knows_qos(const std::string& text) {
  try {
    const auto from = json::parse(text);
    const bool knows_tables = settings_in(from).values.contains("qos.enabled");
    if (qos_at(from).empty() && !knows_tables) return std::unexpected("");  // none was ever accepted
    return {};
  } catch (const std::exception& error) {
    return std::unexpected(error.what());
  }
}

}  // namespace smd::policy
