// SPDX-License-Identifier: Apache-2.0
#include "config/partition_sources.h"

#include "config/qos_classes.h"

namespace smd::config {
namespace {

ExtraGroup extra_group(const ConfiguredGroup& group, const PartitionDefinition& partition) {
  auto settings = partition.settings;
  if (group.mtu != Mtu::none) settings.mtu = group.mtu;
  if (group.rate != 0) settings.rate = group.rate;
  if (group.sl) settings.sl = Sl{*group.sl};
  if (group.qkey != 0) settings.qkey = group.qkey;
  settings.tclass = static_cast<std::uint8_t>(group.tclass);
  settings.flow_label = group.flow_label;
  return {.mgid = group.mgid, .settings = settings, .source = partition.source};
}

PartitionDefinition definition_of(const ConfiguredPartition& block, const QosClasses& classes) {
  PartitionDefinition definition{.name = block.name, .pkey = block.pkey, .ipoib = block.ipoib};
  definition.source = {.origin = PolicyOrigin::toml, .line = block.line.value};
  definition.settings = {.mtu = block.mtu, .rate = block.rate, .sl = Sl{block.sl}, .qkey = block.qkey};
  if (const auto* of = class_of_partition(classes, block.qos_class, block.name, block.pkey))
    definition.settings.sl = of->sl;
  for (const auto scope : block.scopes)
    definition.settings.scopes = static_cast<std::uint16_t>(definition.settings.scopes | (1U << scope));
  const auto add = [&](const std::vector<PortTerm>& terms, Membership membership, bool index0) {
    if (terms.empty()) return;
    definition.members.push_back(
        {.ports = {terms}, .membership = membership, .index0 = index0, .source = definition.source});
  };
  add(block.limited, Membership::limited, false);
  add(block.full, Membership::full, false);
  add(block.both, Membership::both, false);
  for (const auto& member : block.members) add(member.ports, member.membership, member.index0);
  for (const auto& group : block.groups) definition.groups.push_back(extra_group(group, definition));
  return definition;
}

}  // namespace

PartitionSources partition_sources(const SubnetConfig& subnet) {
  if (subnet.partitions.accepted) {
    auto accepted = *subnet.partitions.accepted;
    accepted.qos = subnet.qos.enabled;
    return accepted;
  }
  PartitionSources sources{.toml_file = subnet.source.name, .conf_file = subnet.partitions.file};
  sources.conf = subnet.partitions.conf.definitions;
  const auto classes = subnet.qos.enabled ? qos_classes_of(subnet) : QosClasses{};
  for (auto& definition : sources.conf) {
    const auto* of = class_of_partition(classes, {}, definition.name, definition.pkey);
    if (of != nullptr) definition.settings.sl = of->sl;
  }
  for (const auto& block : subnet.partition) sources.toml.push_back(definition_of(block, classes));
  for (const auto& group : subnet.groups) {
    sources.groups[group.name] = {group.members};
    sources.group_lines[group.name] = group.line.value;
  }
  sources.qos = subnet.qos.enabled;
  sources.allow_both_pkeys = subnet.partitions.allow_both_pkeys;
  sources.api_pkeys = subnet.partitions.api_pkeys;
  return sources;
}

}  // namespace smd::config
