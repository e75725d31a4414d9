// SPDX-License-Identifier: Apache-2.0
// OpenSM's partitions.conf from foreign bytes: a policy or errors, never a crash. What is read is merged and
// resolved.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "config/import/partitions_conf.h"
#include "config/partitions.h"

namespace {

using namespace smd::config;
using smd::Guid;
using smd::NodeType;
using smd::PortNum;

constexpr std::array kPorts{
    PortView{Guid{0x11}, Guid{0x10}, "h0", PortNum{1}, NodeType::ca, {}, {}, false, {}},
    PortView{Guid{0x21}, Guid{0x20}, "h1", PortNum{1}, NodeType::ca, {}, {}, false, {}},
    PortView{Guid{0x30}, Guid{0x30}, "leaf", PortNum{0}, NodeType::switch_, {}, {}, false, {}},
    PortView{Guid{0x30}, Guid{0x30}, "leaf", PortNum{3}, NodeType::switch_, {}, {}, true, {}}};

void require(bool good) {
  if (!good) std::abort();
}

void check_lines(const std::vector<ConfigError>& notes) {
  for (const auto& note : notes) {
    const auto line = to_string(note);
    require(line.starts_with("x") && line.find('\n') == std::string::npos &&
            line.find('\0') == std::string::npos);
  }
}

void check_terms(const PartitionDefinition& definition) {
  require(!definition.pkey || (*definition.pkey >= 1 && *definition.pkey <= 0x7fff));
  for (const auto& rule : definition.members) {
    for (const auto& term : rule.ports.terms) require(!to_string(term).empty());
  }
}

void check_policy(const PartitionSources& sources) {
  const auto merged = merge_partitions(sources);
  if (!merged) return check_lines(merged.error());
  check_lines(merged->warnings);
  const auto& policy = merged->policy;
  require(policy.find(kDefaultPartition) != nullptr && merge_partitions(sources)->policy == policy);
  const PortIndex index(kPorts);
  const auto resolved = resolve_partitions(policy, index, Guid{0x11});
  require(resolved.size() == policy.partitions.size());
  std::array<unsigned, kPorts.size()> at_index0{};
  for (const auto& partition : resolved) {
    for (const auto& member : partition.members) {
      require(policy.allow_both_pkeys || member.membership != Membership::both);
      at_index0[member.port] += member.index0 ? 1U : 0U;
    }
  }
  for (const auto wishes : at_index0) require(wishes <= 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool qos : {false, true}) {
    auto conf = read_partitions_conf(text, "x", {.qos = qos});
    if (!conf) {
      require(!conf.error().empty());
      check_lines(conf.error());
      continue;
    }
    check_lines(conf->warnings);
    require(!conf->definitions.empty());
    for (const auto& definition : conf->definitions) check_terms(definition);
    PartitionSources sources{.toml_file = "x", .conf_file = "x"};
    sources.conf = std::move(conf->definitions);
    for (const bool both : {false, true}) {
      sources.allow_both_pkeys = both;
      check_policy(sources);
    }
  }
  return 0;
}
