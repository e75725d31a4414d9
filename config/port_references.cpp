// SPDX-License-Identifier: Apache-2.0
#include "config/port_references.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/suggest.h"
#include "config/toml_reader.h"
#include "mad/base/parse.h"

namespace smd::config {
namespace {

template <class Blocks, class Member>
void add_lists(const Blocks& blocks, std::string_view array, std::string_view key, Member member,
               std::vector<PortList>& lists) {
  for (std::size_t i = 0; i < blocks.size(); ++i)
    lists.push_back({.key = fmt::format("{}[{}].{}", array, i, key),
                     .line = blocks[i].line.value,
                     .terms = &(blocks[i].*member)});
}

/// An error for each member of this kind that `is_there` does not know.
template <class IsThere, class Say>
std::vector<ConfigError> missing(const std::vector<PortList>& lists, PortTermKind kind,
                                 const std::string& toml_file, IsThere is_there, Say say) {
  std::vector<ConfigError> errors;
  for (const auto& list : lists) {
    for (std::size_t j = 0; j < list.terms->size(); ++j) {
      const auto& term = (*list.terms)[j];
      if (term.kind != kind || is_there(term.name)) continue;
      auto& error = errors.emplace_back(say(term.name));
      error.file = toml_file;
      error.line = list.line;
      error.key = fmt::format("{}[{}]", list.key, j);
    }
  }
  return errors;
}

}  // namespace

std::vector<PortList> port_lists_of_groups(const SubnetConfig& subnet) {
  std::vector<PortList> lists;
  add_lists(subnet.groups, "group", "members", &NamedPorts::members, lists);
  return lists;
}

std::vector<PortList> port_lists_of_partitions(const SubnetConfig& subnet) {
  std::vector<PortList> lists;
  add_lists(subnet.partition, "partition", "limited", &ConfiguredPartition::limited, lists);
  add_lists(subnet.partition, "partition", "full", &ConfiguredPartition::full, lists);
  add_lists(subnet.partition, "partition", "both", &ConfiguredPartition::both, lists);
  for (std::size_t i = 0; i < subnet.partition.size(); ++i) {
    const auto& block = subnet.partition[i];
    for (std::size_t j = 0; j < block.members.size(); ++j)
      lists.push_back({.key = fmt::format("partition[{}].members[{}].ports", i, j),
                       .line = block.line.value,
                       .terms = &block.members[j].ports});
  }
  return lists;
}

std::vector<PortList> port_lists_of_qos(const SubnetConfig& subnet) {
  std::vector<PortList> lists;
  const auto& qos = subnet.qos;
  add_lists(qos.rule, "qos.rule", "source", &ConfiguredQosRule::source, lists);
  add_lists(qos.rule, "qos.rule", "destination", &ConfiguredQosRule::destination, lists);
  add_lists(qos.ulp, "qos.ulp", "target", &ConfiguredQosUlp::target, lists);
  add_lists(qos.ulp, "qos.ulp", "source", &ConfiguredQosUlp::source, lists);
  add_lists(qos.ulp, "qos.ulp", "source_target", &ConfiguredQosUlp::source_target, lists);
  add_lists(qos.traffic_classes, "qos.class", "ports", &ConfiguredQosClass::ports, lists);
  add_lists(qos.ports, "qos.ports", "ports", &QosPorts::ports, lists);
  return lists;
}

std::vector<ConfigError> missing_groups(const std::vector<PortList>& lists, const SubnetConfig& subnet,
                                        const std::string& toml_file) {
  std::vector<std::string> names;
  for (const auto& group : subnet.groups) names.push_back(group.name);
  return missing(
      lists, PortTermKind::group, toml_file,
      [&](const std::string& name) { return std::ranges::find(names, name) != names.end(); },
      [&](const std::string& name) {
        return ConfigError{.expected = fmt::format("there is no group \"{}\"", printable(name)),
                           .hint = did_you_mean_or_all(name, names, "groups")};
      });
}

std::vector<ConfigError> nested_partitions(const std::vector<PortList>& lists, const std::string& toml_file) {
  return missing(
      lists, PortTermKind::partition, toml_file, [](const std::string&) { return false; },
      [](const std::string&) {
        return ConfigError{.expected = "members of a partition cannot be those of another one: use a group"};
      });
}

std::vector<ConfigError> missing_partitions(const std::vector<PortList>& lists, const PartitionPolicy& policy,
                                            const std::string& toml_file) {
  std::vector<std::string> names;
  for (const auto& partition : policy.partitions) names.push_back(partition.name);
  const auto is_there = [&](const std::string& name) {
    if (std::ranges::find(names, name) != names.end()) return true;
    const auto pkey = base::parse_pkey(name);
    return pkey && policy.find(*pkey) != nullptr;
  };
  return missing(lists, PortTermKind::partition, toml_file, is_there, [&](const std::string& name) {
    return ConfigError{.expected = fmt::format("no file defines the partition \"{}\"", printable(name)),
                       .hint = did_you_mean(name, names)};
  });
}

}  // namespace smd::config
