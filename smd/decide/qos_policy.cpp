// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/qos_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "smd/decide/decided.h"
#include "smd/decide/policy_ports.h"

namespace smd::sm::inline decisions {
namespace {

/// Rules by protocol refer to groups of their own, behind those of the policy.
using Atoms = std::vector<std::uint32_t>;  ///< indexes of port sets; empty: any port
using Bits = std::vector<std::uint64_t>;
constexpr std::size_t kWordBits = 64;

struct ResolvedRule {
  QosMatcher::Rule rule{};
  Atoms source{}, target{};
};

StaticRate rate_of(std::uint8_t code) {
  const auto found = std::ranges::find(kStaticRates, code, &StaticRate::code);
  return found != kStaticRates.end() ? *found : StaticRate{};
}

class QosResolver {
 public:
  QosResolver(const Subnet& subnet, const config::QosPolicy& policy, const config::PortGroups& groups,
              const PartitionPart* partitions, const Stored* stored)
      : subnet_(subnet), ports_(subnet, stored, groups, partitions), policy_(policy) {
    row_ = (ports_.views().size() + kWordBits - 1) / kWordBits;
  }

  void run(QosPolicyPart& out) {
    for (const auto& group : policy_.groups) add_group(group);
    for (const auto& level : policy_.levels) look_at_pkeys(level.pkeys, level.source, "pkey");
    for (const auto& rule : policy_.rules) add_rule(rule);
    for (const auto& ulp : policy_.ulps) add_ulp(ulp);
    classify(out);
    finish(out);
    out.pending = std::move(pending_);
  }

 private:
  void wait_for(const config::QosSource& source, std::string item, std::string reason) {
    pending_.push_back({.source = source, .item = std::move(item), .reason = std::move(reason)});
  }

  std::uint32_t new_atom() {
    atoms_.emplace_back(row_);
    return static_cast<std::uint32_t>(atoms_.size() - 1);
  }
  void put(std::size_t view) { atoms_.back()[view / kWordBits] |= std::uint64_t{1} << (view % kWordBits); }

  void add_group(const config::QosGroup& group) {
    new_atom();
    add_guids(group.port_guids, group.source, "port-guid");
    for (const auto& name : group.port_names) add_port_name(name, group.source);
    for (const auto& name : group.partitions) {
      const auto pkey = ports_.partition_named(name);
      if (!pkey) wait_for(group.source, "partition: " + name, "there is no partition of this name");
      if (pkey) add_members({{pkey->partition(), pkey->partition()}});
    }
    look_at_pkeys(group.pkeys, group.source, "pkey");
    if (!group.pkeys.empty()) add_members(group.pkeys);
    const auto& views = ports_.views();
    for (std::size_t i = 0; i < views.size(); ++i) {
      const bool of_type = (group.cas && views[i].type == NodeType::ca) ||
                           (group.switches && views[i].type == NodeType::switch_) ||
                           (group.routers && views[i].type == NodeType::router);
      if (of_type || (group.self && views[i].port_guid == ports_.self())) put(i);
    }
  }

  void add_guids(const config::QosRanges& guids, const config::QosSource& source, std::string_view key) {
    for (const auto& range : guids) {
      const auto found = ports_.index().with_guids(Guid{range.first}, Guid{range.last});
      for (const auto view : found) put(view);
      if (found.empty())
        wait_for(source, fmt::format("{}: {}", key, config::to_string(config::QosRanges{range}, true)),
                 "no port has this GUID");
    }
  }

  void add_members(const config::QosRanges& pkeys) {
    for (std::size_t i = 0; i < ports_.views().size(); ++i) {
      const bool member = std::ranges::any_of(
          ports_.views()[i].partitions, [&](PKey key) { return config::holds(pkeys, key.partition()); });
      if (member) put(i);
    }
  }

  /// Any external port of a switch means its port 0: paths begin and end there.
  void add_port_name(const config::QosPortName& name, const config::QosSource& source) {
    const auto& views = ports_.views();
    const auto item = fmt::format("port-name: {}/P{}", name.node, name.port);
    bool node_is_there = false, found = false;
    for (const auto view : ports_.index().of_node(name.node)) {
      node_is_there = true;
      const auto* node = subnet_.find(views[view].node_guid);
      const bool of_switch = node->is_switch() && name.port < node->ports.size();
      if (!of_switch && (node->is_switch() || views[view].port.value() != name.port)) continue;
      put(view);
      found = true;
    }
    if (!found) wait_for(source, item, node_is_there ? "the node has no such port" : "no node is called so");
  }

  std::uint32_t atom_of(const config::PortSet& set, const config::QosSource& source) {
    const auto known = std::ranges::find(sets_, set, [](const auto& one) { return *one.first; });
    if (known != sets_.end()) return known->second;
    const auto atom = new_atom();
    const auto found = ports_.resolve(set);
    for (const auto view : found.ports) put(view);
    for (const auto& one : found.pending) wait_for(source, to_string(one.term), one.reason);
    sets_.emplace_back(&set, atom);
    return atom;
  }

  Atoms groups_named(const std::vector<std::string>& names) const {
    Atoms atoms;
    for (const auto& name : names) {
      const auto* group = policy_.find_group(name);
      if (group != nullptr) atoms.push_back(static_cast<std::uint32_t>(group - policy_.groups.data()));
    }
    return atoms;
  }

  void add_rule(const config::QosRule& rule) {
    const auto* level = policy_.find_level(rule.level);
    if (level == nullptr) return;  // refused before
    auto pkeys = rule.pkeys;
    look_at_pkeys(pkeys, rule.source, "pkey");
    for (const auto& name : rule.partitions) {
      const auto pkey = ports_.partition_named(name);
      if (pkey) pkeys.push_back({pkey->partition(), pkey->partition()});
      if (!pkey) wait_for(rule.source, "partition: " + name, "there is no partition of this name");
    }
    if (!rule.partitions.empty() && pkeys.empty()) return;  // no P_Keys would be any P_Key
    ResolvedRule resolved{.rule = {.qos_classes = rule.qos_classes,
                                   .service_ids = rule.service_ids,
                                   .pkeys = std::move(pkeys),
                                   .no_service = rule.no_service,
                                   .terms = terms_of(*level)},
                          .source = groups_named(rule.source_groups),
                          .target = groups_named(rule.destination_groups)};
    if (!rule.source_ports.terms.empty()) resolved.source.push_back(atom_of(rule.source_ports, rule.source));
    if (!rule.destination_ports.terms.empty())
      resolved.target.push_back(atom_of(rule.destination_ports, rule.source));
    rules_.push_back(std::move(resolved));
  }

  void add_ulp(const config::QosUlp& ulp) {
    using enum config::QosUlpKey;
    ResolvedRule resolved{.rule = {.terms = terms_of(ulp.sl)}};
    if (ulp.by == service_id) {
      resolved.rule.service_ids = ulp.ranges;
    } else if (ulp.by == pkey) {
      resolved.rule.pkeys = ulp.ranges;
      if (ulp.name == "ipoib") look_at_ipoib(ulp);
      if (ulp.name != "ipoib") look_at_pkeys(ulp.ranges, ulp.source, fmt::format("{}, pkey", ulp.name));
    } else {
      const auto atom = ulp.ports.terms.empty() ? new_atom() : atom_of(ulp.ports, ulp.source);
      add_guids(ulp.ranges, ulp.source, to_string(ulp.by));
      if (ulp.by != target) resolved.source.push_back(atom);
      if (ulp.by != source) resolved.target.push_back(atom);
    }
    rules_.push_back(std::move(resolved));
  }

  /// opensm refuses the whole file for one such partition.
  void look_at_ipoib(const config::QosUlp& ulp) {
    for (const auto& range : ulp.ranges) {
      const PKey pkey{static_cast<std::uint16_t>(range.first)};
      const auto item = fmt::format("ipoib, pkey {}", pkey);
      if (range.first != range.last) continue;
      if (!ports_.has_partition(pkey.partition(), pkey.partition())) {
        wait_for(ulp.source, item, "there is no such partition; opensm refuses the file");
      } else if (ports_.full_members(pkey) < 2) {
        wait_for(ulp.source, item, "the partition has less than two full members; opensm refuses the file");
      }
    }
  }

  /// P_Keys that no partition has.
  void look_at_pkeys(const config::QosRanges& pkeys, const config::QosSource& source, std::string_view key) {
    constexpr std::uint64_t kNumber = 0x7FFF;
    for (const auto& range : pkeys) {
      const bool whole = range.last - range.first >= kNumber;
      const auto first = static_cast<std::uint16_t>(whole ? 0 : range.first & kNumber);
      const auto last = static_cast<std::uint16_t>(whole ? kNumber : range.last & kNumber);
      const bool there = first <= last
                             ? ports_.has_partition(first, last)
                             : ports_.has_partition(first, kNumber) || ports_.has_partition(0, last);
      if (!there)
        wait_for(source, fmt::format("{}: {}", key, config::to_string(config::QosRanges{range}, true)),
                 "no partition has this P_Key");
    }
  }

  std::uint32_t keep_terms(QosTerms terms) {
    const auto known = std::ranges::find(terms_, terms);
    if (known != terms_.end()) return static_cast<std::uint32_t>(known - terms_.begin());
    terms_.push_back(std::move(terms));
    return static_cast<std::uint32_t>(terms_.size() - 1);
  }
  std::uint32_t terms_of(Sl sl) { return keep_terms({.sl = sl}); }
  std::uint32_t terms_of(const config::QosLevel& level) {
    auto pkeys = level.pkeys;
    std::ranges::sort(pkeys, {}, &config::QosRange::first);
    return keep_terms({.sl = level.sl,
                       .mtu_limit = level.mtu_limit,
                       .rate_limit = rate_of(level.rate_limit),
                       .packet_life = level.packet_life,
                       .pkeys = std::move(pkeys)});
  }

  /// Ports in the same sets are one class.
  void classify(QosPolicyPart& out) {
    const auto words = (atoms_.size() + kWordBits - 1) / kWordBits;
    std::map<Bits, QosPortClass> known{{Bits(words), 0}};
    classes_.emplace_back(words);
    for (std::size_t view = 0; view < ports_.views().size(); ++view) {
      Bits in(words);
      for (std::size_t atom = 0; atom < atoms_.size(); ++atom) {
        if ((atoms_[atom][view / kWordBits] >> (view % kWordBits) & 1U) != 0)
          in[atom / kWordBits] |= std::uint64_t{1} << (atom % kWordBits);
      }
      const auto [at, fresh] = known.emplace(std::move(in), static_cast<QosPortClass>(classes_.size()));
      if (fresh) classes_.push_back(at->first);
      if (at->second != 0) out.ports.push_back({.at = ports_.place(view), .ports = at->second});
    }
  }

  static bool in_any(const Bits& of_class, const Atoms& atoms) {
    return atoms.empty() || std::ranges::any_of(atoms, [&](std::uint32_t atom) {
             return (of_class[atom / kWordBits] >> (atom % kWordBits) & 1U) != 0;
           });
  }

  void finish(QosPolicyPart& out) {
    std::optional<std::uint32_t> standard;
    if (const auto* level = policy_.find_level(config::kDefaultQosLevel)) {
      standard = terms_of(*level);
    } else if (policy_.default_ulp) {
      standard = terms_of(policy_.default_ulp->sl);
    }
    std::vector<QosMatcher::Rule> rules;
    rules.reserve(rules_.size());
    for (auto& one : rules_) rules.push_back(std::move(one.rule));
    out.matcher = QosMatcher(rules, std::move(terms_), standard, classes_.size());
    for (std::size_t i = 0; i < rules_.size(); ++i) {
      for (QosPortClass ports = 0; ports < classes_.size(); ++ports) {
        if (!in_any(classes_[ports], rules_[i].source)) out.matcher.exclude_source(i, ports);
        if (!in_any(classes_[ports], rules_[i].target)) out.matcher.exclude_target(i, ports);
      }
    }
  }

  const Subnet& subnet_;
  PolicyPorts ports_;
  const config::QosPolicy& policy_;
  std::size_t row_ = 0;
  std::vector<Bits> atoms_;  ///< sets of views; first those of the policy's groups
  std::vector<std::pair<const config::PortSet*, std::uint32_t>> sets_;
  std::vector<ResolvedRule> rules_;
  std::vector<QosTerms> terms_;
  std::vector<Bits> classes_;  ///< the sets that a class is in
  std::vector<QosPending> pending_;
};

}  // namespace

QosPolicyPart resolve_qos_policy(const Subnet& subnet, std::shared_ptr<const config::QosPolicy> policy,
                                 const config::PortGroups& groups, const PartitionPart* partitions,
                                 const Stored* stored) {
  QosPolicyPart part;
  QosResolver(subnet, *policy, groups, partitions, stored).run(part);
  part.policy = std::move(policy);
  return part;
}

}  // namespace smd::sm::inline decisions
