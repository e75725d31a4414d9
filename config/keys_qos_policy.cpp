// SPDX-License-Identifier: Apache-2.0
// The keys of [qos] about the policy: the file, [[qos.level]], [[qos.rule]] and [[qos.ulp]].
#include <limits>

#include "config/blocks.h"
#include "config/file_key.h"
#include "config/import/qos_ulps.h"
#include "config/policy_codecs.h"
#include "config/rows.h"
#include "config/scalars.h"

namespace smd::config {
namespace {

constexpr auto kQos = &SubnetConfig::qos;
constexpr std::uint64_t kAnyId = std::numeric_limits<std::uint64_t>::max();
constexpr std::string_view kPartitionTerm = ", \"partition:NAME\"";

Codec<QosRanges> qos_pkeys() { return qos_ranges("P_Keys from 0x0001 to 0xffff", 0xffff, true); }
Codec<QosRanges> qos_service_ids() { return qos_ranges("service IDs (\"0x0000000001060cbc\")", kAnyId); }
Codec<std::uint8_t> qos_sl() { return whole<std::uint8_t>(0, 15); }
Codec<std::string> qos_use() {
  return text("text on one line", [](const std::string& line) { return !line.contains('\n'); });
}

std::vector<BlockKey<ConfiguredQosLevel>> level_keys() {
  using L = ConfiguredQosLevel;
  return {
      block_key({.name = "name",
                 .doc = "What rules call it. \"DEFAULT\" is for paths that no rule matches; without it these "
                        "get the SL of their partition.",
                 .opensm = "name",
                 .example = "\"storage\"",
                 .required = true,
                 .unique = true},
                &L::name, policy_name("a level")),
      block_key({.name = "use", .doc = "What it is for.", .opensm = "use"}, &L::use, qos_use()),
      block_key(
          {.name = "sl", .doc = "The SL of its paths.", .opensm = "sl", .example = "2", .required = true},
          &L::sl, qos_sl()),
      block_key({.name = "mtu_limit",
                 .doc = "The largest MTU of its paths, in bytes.",
                 .opensm = "mtu-limit",
                 .example = "2048"},
                &L::mtu_limit, group_mtu("what the path can", "none")),
      block_key({.name = "rate_limit",
                 .doc = "The fastest rate of its paths, in Gb/s.",
                 .opensm = "rate-limit",
                 .example = "100"},
                &L::rate_limit, group_rate("what the path can", "none")),
      block_key({.name = "packet_life",
                 .doc = "The PacketLifeTime of its paths, 4.096 us * 2^n.",
                 .opensm = "packet-life"},
                &L::packet_life, or_word(time_code(31), "auto", "links.subnet_timeout")),
      block_key({.name = "pkey",
                 .doc = "The P_Keys that its paths may have; empty: any. Without a P_Key in the request the "
                        "lowest that both ends share is chosen.",
                 .opensm = "pkey"},
                &L::pkey, qos_pkeys()),
  };
}

std::vector<BlockKey<ConfiguredQosRule>> rule_keys() {
  using R = ConfiguredQosRule;
  return {
      block_key({.name = "level",
                 .doc = "The level of the paths that it matches.",
                 .opensm = "qos-level-name",
                 .example = "\"storage\"",
                 .required = true},
                &R::level, policy_name("a level")),
      block_key({.name = "use", .doc = "What it is for.", .opensm = "use"}, &R::use, qos_use()),
      block_key({.name = "source",
                 .doc = "Ports that paths begin at.",
                 .opensm = "source",
                 .example = "[\"group:storage\"]"},
                &R::source, port_terms(kPartitionTerm)),
      block_key({.name = "destination", .doc = "Ports that paths end at.", .opensm = "destination"},
                &R::destination, port_terms(kPartitionTerm)),
      block_key({.name = "qos_class",
                 .doc = "QoS classes; the request has to name one of them.",
                 .opensm = "qos-class"},
                &R::qos_class, qos_ranges("QoS classes from 0 to 4095", kMostQosClass)),
      block_key({.name = "service_id",
                 .doc = "Service IDs; the request has to name one of them.",
                 .opensm = "service-id",
                 .example = "[\"0x0000000001060000-0x000000000106ffff\"]"},
                &R::service_id, qos_service_ids()),
      block_key(
          {.name = "pkey",
           .doc = "P_Keys; the request has to name one of them, with or without the bit of full members.",
           .opensm = "pkey"},
          &R::pkey, qos_pkeys()),
  };
}

const std::vector<std::string>& ulp_names() {
  static const std::vector<std::string> names{"default", "sdp",    "rds",    "iser",    "srp",  "ipoib",
                                              "any",     "lustre", "nvmeof", "nfsrdma", "gpfs", "beegfs"};
  return names;
}

Codec<std::string> ulp_name() {
  std::vector<std::pair<std::string, std::string>> choices;
  for (const auto& name : ulp_names()) choices.emplace_back(name, name);
  return one_of<std::string>(choices);
}

std::vector<BlockKey<ConfiguredQosUlp>> ulp_keys() {
  using U = ConfiguredQosUlp;
  return {
      block_key({.name = "name",
                 .doc = "The protocol. \"default\" is for paths that no rule matches.",
                 .example = "\"lustre\"",
                 .required = true},
                &U::name, ulp_name()),
      block_key({.name = "sl", .doc = "The SL of its paths.", .example = "2", .required = true}, &U::sl,
                qos_sl()),
      block_key({.name = "port_num",
                 .doc = "Ports of TCP, of which rdma_cm makes service IDs. Usual ones where it is not given: "
                        "lustre 987, nvmeof 4420, nfsrdma 20049, iser 3260, rds 18634, sdp all; gpfs and "
                        "beegfs have none and need it.",
                 .opensm = "port-num"},
                &U::port_num, qos_ranges("port numbers from 0 to 65535", kMostPort)),
      block_key({.name = "service_id", .doc = "Service IDs, of \"any\".", .opensm = "service-id"},
                &U::service_id, qos_service_ids()),
      block_key({.name = "pkey",
                 .doc = "P_Keys, of \"any\" and \"ipoib\", which has 0x7fff without it.",
                 .opensm = "pkey"},
                &U::pkey, qos_pkeys()),
      block_key({.name = "target",
                 .doc = "Ports that paths end at, of \"any\" and \"srp\".",
                 .opensm = "target-port-guid"},
                &U::target, port_terms(kPartitionTerm)),
      block_key(
          {.name = "source", .doc = "Ports that paths begin at, of \"any\".", .opensm = "source-port-guid"},
          &U::source, port_terms(kPartitionTerm)),
      block_key({.name = "source_target",
                 .doc = "Ports that both ends of paths are of, of \"any\".",
                 .opensm = "source-target-port-guid"},
                &U::source_target, port_terms(kPartitionTerm)),
  };
}

/// Lists without an item and no other criterion would widen the rule to all paths.
void check_rule(const ConfiguredQosRule& rule, const Value& table, const Spot& at) {
  const bool none = rule.source.empty() && rule.destination.empty() && rule.qos_class.empty() &&
                    rule.service_id.empty() && rule.pkey.empty();
  const auto empty = std::ranges::find(table.items, Value::Kind::list, &Value::kind);
  if (!none || empty == table.items.end()) return;
  at.with_key(fmt::format("{}.{}", at.key, empty->key))
      .wrong(*empty, "one item at least, as the rule has no other criterion",
             "leave the key out in a rule for all paths");
}

/// The names of the criteria that a block gives.
std::vector<std::string_view> criteria_of(const ConfiguredQosUlp& ulp) {
  std::vector<std::string_view> given;
  if (!ulp.port_num.empty()) given.emplace_back("port_num");
  if (!ulp.service_id.empty()) given.emplace_back("service_id");
  if (!ulp.pkey.empty()) given.emplace_back("pkey");
  if (!ulp.target.empty()) given.emplace_back("target");
  if (!ulp.source.empty()) given.emplace_back("source");
  if (!ulp.source_target.empty()) given.emplace_back("source_target");
  return given;
}

/// What a protocol is matched by, in words; `needed`: it does not do without.
struct UlpCriteria {
  std::vector<std::string_view> allowed{};
  bool needed = false;
};
UlpCriteria allowed_criteria(const std::string& name) {
  if (name == "default") return {};
  if (name == "srp") return {{"target"}, true};
  if (name == "ipoib") return {{"pkey"}, false};
  if (const auto* known = find_port_ulp(name)) return {{"port_num"}, !known->usual};
  return {{"service_id", "pkey", "target", "source", "source_target"}, true};
}

void check_ulp(const ConfiguredQosUlp& ulp, const Value& table, const Spot& at) {
  const auto given = criteria_of(ulp);
  const auto [allowed, needed] = allowed_criteria(ulp.name);
  const auto words = fmt::format("{}", fmt::join(allowed, ", "));
  for (const auto key : given) {
    if (std::ranges::find(allowed, key) != allowed.end()) continue;
    return at.refuse_in(
        table, key,
        fmt::format("\"{}\" has {}", ulp.name, allowed.empty() ? "a name and an sl only" : "only " + words));
  }
  if (given.size() > 1) at.refuse(table, fmt::format("only one of {}", words));
  if (given.empty() && needed)
    at.refuse(table, fmt::format("\"{}\" needs {}{}", ulp.name, allowed.size() > 1 ? "one of " : "", words));
}

template <class Block>
BlockOptions<Block> with_line() {
  BlockOptions<Block> options;
  options.place = [](Block& block, const Value& table) { block.line.value = table.line; };
  return options;
}

/// OpenSM's qos-policy.conf, which is read with the configuration.
Key policy_file() {
  return file_key(
      {.table = "qos",
       .name = "policy_file",
       .opensm = "qos_policy_file",
       .doc = "OpenSM's qos-policy.conf, unchanged (docs/qos.md), instead of [[qos.level]], [[qos.rule]] "
              "and [[qos.ulp]]. A wrong file is refused as a whole; while qos.enabled is false it is a "
              "warning."},
      FileMembers{kQos, &QosConfig::policy_file, &QosConfig::conf}, read_qos_policy_conf,
      [](const QosConfig& qos) -> std::string {
        if (qos.policy_file.empty()) return "";
        const auto& policy = qos.conf.policy;
        return fmt::format("{} levels, {} rules, {} rules for protocols", policy.levels.size(),
                           policy.rules.size(), policy.ulps.size());
      });
}

}  // namespace

std::vector<Key> qos_policy_keys() {
  auto ulp_options = with_line<ConfiguredQosUlp>();
  ulp_options.check = check_ulp;
  auto rule_options = with_line<ConfiguredQosRule>();
  rule_options.check = check_rule;
  return {
      row({.table = "qos",
           .name = "enabled",
           .opensm = "qos",
           .doc = "Write SL to VL and VL arbitration tables, and answer with the SLs of partitions and of "
                  "the policy. "
                  "Without it every path has SL 0, and tables stay as they are."},
          kQos, &QosConfig::enabled, flag("SLs by the policy and the partitions", "nothing of QoS is done")),
      policy_file(),
      row({.table = "qos", .name = "level", .opensm = "", .doc = "What a path gets: its SL, and limits."},
          kQos, &QosConfig::level, blocks<ConfiguredQosLevel>(level_keys(), with_line<ConfiguredQosLevel>())),
      row({.table = "qos",
           .name = "rule",
           .opensm = "",
           .doc = "Which paths get a level. All criteria that are given have to hold; the first rule that "
                  "matches counts."},
          kQos, &QosConfig::rule, blocks<ConfiguredQosRule>(rule_keys(), std::move(rule_options))),
      row({.table = "qos",
           .name = "ulp",
           .opensm = "",
           .doc = "The SL of an upper-layer protocol, for paths that no [[qos.rule]] matches. The first one "
                  "that matches counts."},
          kQos, &QosConfig::ulp, blocks<ConfiguredQosUlp>(ulp_keys(), std::move(ulp_options))),
  };
}

}  // namespace smd::config
