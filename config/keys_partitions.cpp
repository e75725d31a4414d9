// SPDX-License-Identifier: Apache-2.0
// The keys of [partitions], [[group]] and [[partition]].
#include "config/blocks.h"
#include "config/file_key.h"
#include "config/import/partitions_conf.h"
#include "config/partition_groups.h"
#include "config/policy_codecs.h"
#include "config/rows.h"
#include "config/scalars.h"
#include "mad/base/escaped.h"
#include "mad/base/parse.h"
#include "mad/base/rate.h"

namespace smd::config {
namespace {

constexpr auto kPartitions = &SubnetConfig::partitions;
/// A P_Key of either membership as its low 15 bits, 1 to 0x7fff; nothing where `value` is none.
std::optional<std::uint16_t> pkey_of(const Value& value) {
  std::optional<PKey> key;
  if (value.kind == Value::Kind::whole && value.whole >= 0 && value.whole <= 0xffff)
    key = PKey{static_cast<std::uint16_t>(value.whole)};
  if (value.kind == Value::Kind::text) key = base::parse_pkey(trim(value.text));
  if (!key || key->partition() == 0) return std::nullopt;
  return key->partition();
}

Codec<std::optional<std::uint16_t>> pkey() {
  using Number = std::optional<std::uint16_t>;
  Codec<Number> codec;
  codec.form = Form::whole;
  codec.allowed =
      "0x0001 to 0x7fff, or the same with the bit of full members (0x8001 to 0xffff), or \"auto\"";
  codec.read = [allowed = codec.allowed](const Value& value, const Spot& spot) -> std::optional<Number> {
    if (value.kind == Value::Kind::text && value.text == "auto") return Number();
    if (const auto number = pkey_of(value)) return Number(number);
    spot.wrong(value, allowed);
    return std::nullopt;
  };
  codec.show = [](const Number& number) { return number ? fmt::format("0x{:04x}", *number) : "\"auto\""; };
  return explained(std::move(codec), Number(), "the lowest free number");
}

Codec<std::vector<std::uint8_t>> scopes() {
  using Scopes = std::vector<std::uint8_t>;
  Codec<Scopes> codec;
  codec.form = Form::list;
  codec.allowed = "a list of scopes from 1 to 15, at least one; 2 is link-local, 5 site-local, 14 global";
  codec.read = [allowed = codec.allowed](const Value& value, const Spot& spot) -> std::optional<Scopes> {
    if (value.kind != Value::Kind::list || value.items.empty()) {
      spot.wrong(value, allowed);
      return std::nullopt;
    }
    Scopes found;
    const auto one = whole<std::uint8_t>(1, 15);
    const bool good = read_each(value, spot, [&](const Value& item, const Spot& at) {
      if (const auto scope = one.read(item, at)) found.push_back(*scope);
    });
    return good ? std::optional(std::move(found)) : std::nullopt;
  };
  codec.show = [](const Scopes& value) { return fmt::format("[{}]", fmt::join(value, ", ")); };
  return codec;
}

Codec<Membership> membership() {
  return one_of<Membership>(
      {{"full", Membership::full}, {"limited", Membership::limited}, {"both", Membership::both}});
}

Codec<Mgid> mgid() {
  Codec<Mgid> codec;
  codec.allowed = "a multicast GID in quotes, as in \"ff12:401b::16\"";
  codec.read = [allowed = codec.allowed](const Value& value, const Spot& spot) -> std::optional<Mgid> {
    auto found = value.kind == Value::Kind::text ? base::parse_mgid(value.text) : std::nullopt;
    if (found && has_reserved_flags(*found)) {
      spot.wrong(value, "a multicast GID without flags that are reserved");
      return std::nullopt;
    }
    if (!found) spot.wrong(value, allowed);
    return found;
  };
  codec.show = [](const Mgid& value) { return toml_quoted(to_string(value)); };
  return codec;
}

BlockKey<ConfiguredGroup> group_setting(std::string_view name, std::string_view doc,
                                        std::uint32_t ConfiguredGroup::* member, std::int64_t most) {
  return block_key({.name = name, .doc = doc}, member, whole<std::uint32_t>(0, most));
}

Codec<std::vector<ConfiguredMember>> members() {
  return blocks<ConfiguredMember>(
      {block_key({.name = "ports", .doc = "Which ports.", .example = "[\"h00001\"]", .required = true},
                 &ConfiguredMember::ports, port_terms()),
       block_key({.name = "membership", .doc = "Their membership."}, &ConfiguredMember::membership,
                 membership()),
       block_key({.name = "index0", .doc = "Put the key at index 0 of their P_Key tables."},
                 &ConfiguredMember::index0, flag("at index 0", "at any index"))});
}

Codec<std::vector<ConfiguredGroup>> groups() {
  return blocks<ConfiguredGroup>(
      {block_key({.name = "mgid", .doc = "The group.", .example = "\"ff12:401b::16\"", .required = true},
                 &ConfiguredGroup::mgid, mgid()),
       block_key({.name = "mtu", .doc = "Its MTU in bytes."}, &ConfiguredGroup::mtu,
                 group_mtu("its partition's")),
       block_key({.name = "rate", .doc = "Its rate in Gb/s."}, &ConfiguredGroup::rate,
                 group_rate("its partition's")),
       block_key({.name = "sl", .doc = "Its SL."}, &ConfiguredGroup::sl,
                 or_word(whole<std::uint8_t>(0, 15), "auto", "its partition's")),
       group_setting("qkey", "Its Q_Key; 0 is 0x0b1b for IP groups.", &ConfiguredGroup::qkey, 0xffffffff),
       group_setting("tclass", "Its traffic class.", &ConfiguredGroup::tclass, 0xff),
       group_setting("flow_label", "Its flow label.", &ConfiguredGroup::flow_label, 0xfffff)});
}

std::vector<BlockKey<ConfiguredPartition>> member_keys() {
  using P = ConfiguredPartition;
  return {
      block_key({.name = "name",
                 .doc = "What the partition is called.",
                 .example = "\"blue\"",
                 .required = true,
                 .unique = true},
                &P::name, policy_name("a partition")),
      block_key(
          {.name = "pkey",
           .doc = "Its P_Key; 0x7fff is the default partition. \"auto\" takes the lowest number that is free "
                  "when all others are known.",
           .example = "0x8012"},
          &P::pkey, pkey()),
      block_key({.name = "limited",
                 .doc = "Ports that are limited members: they cannot talk to one another.",
                 .example = "[\"h0*\"]"},
                &P::limited, port_terms()),
      block_key({.name = "full",
                 .doc = "Ports that are full members; they replace limited ones.",
                 .example = "[\"SELF\", \"group:storage\"]"},
                &P::full, port_terms()),
      block_key({.name = "both",
                 .doc = "Ports that have both keys, where allow_both_pkeys is true; else they are full."},
                &P::both, port_terms()),
      block_key(
          {.name = "members",
           .doc =
               "Members with a membership or an index of their own; they replace those of the lists above, "
               "and later ones earlier ones.",
           .example = "[{ports = [\"h00001\"], membership = \"full\", index0 = true}]"},
          &P::members, members()),
  };
}

std::vector<BlockKey<ConfiguredPartition>> group_keys_of_partition() {
  using P = ConfiguredPartition;
  return {
      block_key(
          {.name = "ipoib", .doc = "Make its IPoIB broadcast group.", .opensm = "ipoib", .example = "true"},
          &P::ipoib, flag("IPoIB can be used", "no broadcast group")),
      block_key({.name = "mtu", .doc = "The MTU of its groups in bytes.", .example = "4096"}, &P::mtu,
                group_mtu("what every port of it can")),
      block_key({.name = "rate", .doc = "The rate of its groups in Gb/s.", .example = "100"}, &P::rate,
                group_rate("what every port of it can")),
      block_key({.name = "sl",
                 .doc = "The SL of its groups, and of its paths that no QoS policy matches; 0 while "
                        "qos.enabled is false.",
                 .opensm = "sl"},
                &P::sl, whole<std::uint8_t>(0, 15)),
      block_key({.name = "qos_class",
                 .doc = "Its class ([[qos.class]], or one of qos.preset), which has the SL; instead of sl. "
                        "Empty: the class that lists the partition, or the default one.",
                 .example = "\"\""},
                &P::qos_class, policy_name_or_none("a class")),
      block_key(
          {.name = "qkey", .doc = "The Q_Key of its groups; 0 is 0x0b1b for IP groups.", .opensm = "Q_Key"},
          &P::qkey, whole<std::uint32_t>(0, 0xffffffff)),
      block_key({.name = "scopes", .doc = "The scopes of its groups: a group for each.", .opensm = "scope"},
                &P::scopes, scopes()),
      block_key({.name = "groups", .doc = "Further multicast groups that are there without members."},
                &P::groups, groups()),
  };
}

/// "0x0100-0x01ff"
Codec<std::pair<std::uint16_t, std::uint16_t>> pkey_range() {
  using Range = std::pair<std::uint16_t, std::uint16_t>;
  constexpr std::uint16_t kLast = 0x7ffe;
  Codec<Range> codec;
  codec.allowed = "a range of P_Keys from 0x0001 to 0x7ffe in quotes, as in \"0x0100-0x01ff\"";
  codec.read = [allowed = codec.allowed](const Value& value, const Spot& spot) -> std::optional<Range> {
    const auto words = value.kind == Value::Kind::text ? trim(value.text) : std::string_view{};
    const auto dash = words.find('-');
    if (dash != std::string_view::npos) {
      const auto first = parse_number(trim(words.substr(0, dash)));
      const auto last = parse_number(trim(words.substr(dash + 1)));
      if (first && last && *first >= 1 && *first <= *last && *last <= kLast)
        return Range(static_cast<std::uint16_t>(*first), static_cast<std::uint16_t>(*last));
    }
    spot.wrong(value, allowed);
    return std::nullopt;
  };
  codec.show = [](const Range& range) {
    return toml_quoted(fmt::format("0x{:04x}-0x{:04x}", range.first, range.second));
  };
  codec.explain = [](const Range& range) {
    return fmt::format("{} numbers", range.second - range.first + 1);
  };
  return codec;
}

/// OpenSM's partitions.conf, which is read with the configuration.
Key partitions_file() {
  return file_key(
      {.table = "partitions",
       .name = "file",
       .opensm = "partition_config_file",
       .doc =
           "OpenSM's partitions.conf, unchanged (docs/partitions.md). A wrong file is refused as a whole."},
      FileMembers{kPartitions, &PartitionsConfig::file, &PartitionsConfig::conf},
      [](const std::string& bytes, const std::string& path) {
        return read_partitions_conf(bytes, path, {.qos = true});
      },
      [](const PartitionsConfig& partitions) -> std::string {
        if (partitions.file.empty()) return "";
        return fmt::format("{} definitions", partitions.conf.definitions.size());
      });
}

}  // namespace

bool is_policy_name(std::string_view name) {
  constexpr std::size_t kLongest = 64;
  return !name.empty() && name.size() <= kLongest && trim(name) == name && !name.contains(',') &&
         base::escaped(name) == name;
}

std::vector<Key> partitions_keys() {
  return {
      partitions_file(),
      row({.table = "partitions",
           .name = "enforcement",
           .opensm = "part_enforce",
           .doc = "Where switches check the P_Keys of packets from and to CAs and routers: packets that come "
                  "\"in\" "
                  "from them, that go \"out\" to them, \"both\", or not at all."},
          kPartitions, &PartitionsConfig::enforcement,
          one_of<Enforcement>({{"both", Enforcement::both},
                               {"in", Enforcement::in},
                               {"out", Enforcement::out},
                               {"off", Enforcement::off}})),
      row({.table = "partitions",
           .name = "enforcement_required",
           .opensm = "",
           .doc = "Keep a port out of service whose switch cannot check its P_Keys."},
          kPartitions, &PartitionsConfig::enforcement_required,
          flag("a port that cannot be checked stays Armed", "a port that cannot be checked is reported")),
      row({.table = "partitions",
           .name = "allow_both_pkeys",
           .opensm = "allow_both_pkeys",
           .doc = "A port may be full and limited member of a partition at once, with two keys."},
          kPartitions, &PartitionsConfig::allow_both_pkeys,
          flag("\"both\" gives two keys", "\"both\" is full")),
      row({.table = "partitions",
           .name = "api_pkeys",
           .opensm = "",
           .doc = "P_Keys for partitions that are made by the API or `smd partitions create` without one."},
          kPartitions, &PartitionsConfig::api_pkeys, pkey_range()),
  };
}

BlockOptions<NamedPorts> group_options() {
  BlockOptions<NamedPorts> options;
  options.place = [](NamedPorts& block, const Value& table) { block.line.value = table.line; };
  return options;
}

std::vector<Key> partition_keys() {
  auto keys = member_keys();
  for (auto& key : group_keys_of_partition()) keys.push_back(std::move(key));
  BlockOptions<ConfiguredPartition> options;
  options.place = [](ConfiguredPartition& block, const Value& table) { block.line.value = table.line; };
  return {
      row(
          {.table = "",
           .name = "group",
           .opensm = "",
           .doc = "A named set of ports, which partitions and other groups refer to as \"group:NAME\"."},
          [](auto& settings) -> auto& { return settings.subnet.groups; },
          blocks<NamedPorts>(
              {block_key({.name = "name",
                          .doc = "What the group is called.",
                          .example = "\"storage\"",
                          .required = true,
                          .unique = true},
                         &NamedPorts::name, policy_name("a group")),
               block_key({.name = "members",
                          .doc = "Which ports belong to it. They need not be in the fabric yet.",
                          .example = "[\"io*\", \"0x10-0x1f\"]",
                          .required = true},
                         &NamedPorts::members, port_terms(", \"partition:NAME\""))},
              group_options())),
      row(
          {.table = "",
           .name = "partition",
           .opensm = "",
           .doc = "A partition: a P_Key and the ports that have it. Where [[partition]] or a file defines "
                  "one and none "
                  "is the default partition (0x7fff), all ports are limited members of that one, and the "
                  "SM's is full."},
          [](auto& settings) -> auto& { return settings.subnet.partition; },
          blocks<ConfiguredPartition>(std::move(keys), std::move(options))),
  };
}

}  // namespace smd::config
