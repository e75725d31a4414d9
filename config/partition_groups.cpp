// SPDX-License-Identifier: Apache-2.0
#include "config/partition_groups.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <utility>

#include "mad/base/rate.h"

namespace smd::config {
namespace {

/// Bytes 2 and 3 of the MGIDs of IP groups (RFC 4391): IPv4 and IPv6.
unsigned scopes_of(const GroupSettings& settings) {
  return settings.scopes == 0 ? 1U << kLinkLocalScope : settings.scopes;
}

std::uint16_t pkey_bits(const Mgid& mgid) {
  return static_cast<std::uint16_t>(mgid.bytes[4] * 256U + mgid.bytes[5]);
}

void set_pkey_bits(Mgid& mgid, PKey pkey) {
  mgid.bytes[4] = static_cast<std::uint8_t>(pkey.value() >> 8U);
  mgid.bytes[5] = static_cast<std::uint8_t>(pkey.value() & 0xffU);
}

void set_scope(Mgid& mgid, std::uint8_t scope) {
  mgid.bytes[1] = static_cast<std::uint8_t>((mgid.bytes[1] & 0xf0U) | scope);
}

PolicyGroup group_of(const GroupSettings& settings, const PolicySource& source, bool ip) {
  constexpr auto kQKey = kIpoibQKey;
  return {.mtu = settings.mtu,
          .rate = settings.rate,
          .sl = settings.sl,
          .qkey = settings.qkey == 0 && ip ? kQKey : settings.qkey,
          .tclass = settings.tclass,
          .flow_label = settings.flow_label,
          .source = source};
}

/// smd.toml and the API have Gb/s, OpenSM's file has the code.
std::string rate_words(std::uint8_t code) {
  return code == 0 ? "auto" : fmt::format("{} Gb/s (code {})", rate_mbps(code) / 1000.0, code);
}
std::string mtu_words(Mtu mtu) {
  return mtu == Mtu::none ? "auto" : fmt::format("{} (code {})", bytes(mtu), std::to_underlying(mtu));
}

/// Why an IP group does not suit its partition; empty: it does.
std::string refusal(const ExtraGroup& group, const PartitionDefinition& definition,
                    const PolicyPartition& partition) {
  const auto bits = pkey_bits(group.mgid);
  const auto key = partition.pkey.full();
  const bool broadcast = group.mgid == broadcast_mgid(kDefaultPartition, kLinkLocalScope);
  if (!broadcast && bits != 0 && bits != key.value())
    return fmt::format("has the P_Key 0x{:04x}, not 0 and not that of the partition, {}", bits, key);
  if (group.settings.rate != definition.settings.rate)
    return fmt::format("has the rate {}, its partition has {}", rate_words(group.settings.rate),
                       rate_words(definition.settings.rate));
  if (group.settings.mtu != definition.settings.mtu)
    return fmt::format("has the MTU {}, its partition has {}", mtu_words(group.settings.mtu),
                       mtu_words(definition.settings.mtu));
  return {};
}

/// FNV-1a, numbers a word at a time. The texts of 100,000 terms would cost more than all else of a merge.
class PolicyDigest {
 public:
  void number(std::uint64_t number) {
    hash_ = (hash_ ^ number) * kPrime;
    hash_ ^= hash_ >> 32U;
  }
  void text(std::string_view text) {
    for (const char c : text) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * kPrime;
    number(text.size());
  }
  void ports(const PortSet& set) {
    number(set.terms.size());
    for (const auto& term : set.terms) {
      number(std::to_underlying(term.kind));
      number(term.first.value());
      number(term.last.value());
      text(term.name);
      number(term.number);
    }
  }
  void group(const PolicyGroup& group) {
    for (const auto byte : group.mgid.bytes) number(byte);
    number(std::to_underlying(group.mtu));
    number(group.rate);
    number(group.sl.value());
    number(group.qkey);
    number(group.tclass);
    number(group.flow_label);
  }
  void partition(const PolicyPartition& partition) {
    text(partition.name);
    number(partition.pkey.value());
    number(partition.sl.value());
    number(partition.ipoib ? 1 : 0);
    number(partition.members.size());
    for (std::size_t i = 0; i < partition.members.size(); ++i) {
      const auto rule = partition.members[i];
      number(partition.order_of(i));
      ports(rule.ports);
      number(std::to_underlying(rule.membership));
      number(rule.index0 ? 1 : 0);
    }
    number(partition.groups.size());
    for (const auto& one : partition.groups) group(one);
  }
  std::uint64_t value() const { return hash_; }

 private:
  static constexpr std::uint64_t kPrime = 0x100000001b3U;
  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

}  // namespace

bool is_named_by_sa(const Mgid& mgid) { return mgid.bytes[2] == 0xa0 && mgid.bytes[3] == 0x1b; }

bool has_reserved_flags(const Mgid& mgid) { return (mgid.bytes[1] & 0xe0U) != 0; }

bool is_ip_group(const Mgid& mgid) {
  const unsigned signature = mgid.bytes[2] * 256U + mgid.bytes[3];
  return signature == 0x401b || signature == 0x601b;
}

Mgid broadcast_mgid(PKey pkey, std::uint8_t scope) {
  Mgid mgid{{0xff, 0x10, 0x40, 0x1b, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}};
  set_scope(mgid, scope);
  set_pkey_bits(mgid, pkey.full());
  return mgid;
}

void GroupMaker::add_scopes(const Mgid& mgid, unsigned scopes, PolicyGroup group,
                            PolicyPartition& partition) {
  for (std::uint8_t scope = 1; scope < 16; ++scope) {
    if ((scopes >> scope & 1U) == 0) continue;
    group.mgid = mgid;
    set_scope(group.mgid, scope);
    group.scope = scope;
    group.hop_limit = scope == kLinkLocalScope ? 0 : 0xff;
    if (taken_.insert(group.mgid).second) partition.groups.push_back(group);
  }
}

std::vector<GroupComplaint> GroupMaker::add(const PartitionDefinition& definition,
                                            PolicyPartition& partition) {
  std::vector<GroupComplaint> complaints;
  if (definition.ipoib) {
    auto group = group_of(definition.settings, definition.source, true);
    group.broadcast = true;
    add_scopes(broadcast_mgid(partition.pkey, kLinkLocalScope), scopes_of(definition.settings), group,
               partition);
  }
  for (const auto& extra : definition.groups) {
    const bool ip = is_ip_group(extra.mgid);
    auto why = ip ? refusal(extra, definition, partition) : std::string();
    if (has_reserved_flags(extra.mgid)) why = "has a flag that is reserved";
    auto mgid = extra.mgid;
    if (ip) set_pkey_bits(mgid, partition.pkey.full());
    if (why.empty() && taken_.contains(mgid)) why = "is there already";
    const auto leave_out = [&](const Mgid& group, std::string_view reason) {
      complaints.push_back(
          {.source = extra.source, .text = fmt::format("group {} {}: left out", group, reason)});
    };
    if (!why.empty()) {
      leave_out(extra.mgid, why);
      continue;
    }
    auto scopes = scopes_of(extra.settings);
    if (constexpr auto kOfSa = 1U << kLinkLocalScope; is_named_by_sa(mgid) && (scopes & kOfSa) != 0) {
      auto link_local = mgid;
      set_scope(link_local, kLinkLocalScope);
      leave_out(link_local, "has the signature a01b, by which the SA names link-local groups itself");
      scopes &= ~kOfSa;
    }
    add_scopes(mgid, scopes, group_of(extra.settings, extra.source, ip), partition);
  }
  return complaints;
}

std::uint64_t digest_of(const PartitionPolicy& policy) {
  PolicyDigest digest;
  digest.number(policy.allow_both_pkeys ? 1 : 0);
  digest.number(policy.groups.size());
  for (const auto& [name, set] : policy.groups) {
    digest.text(name);
    digest.ports(set);
  }
  digest.number(policy.partitions.size());
  for (const auto& partition : policy.partitions) digest.partition(partition);
  for (const auto& one : policy.sls_of_class) {
    digest.text(one.name);
    digest.number(one.pkey.value());
    digest.number(one.asked.value());
  }
  return digest.value();
}

}  // namespace smd::config
