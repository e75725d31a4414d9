// SPDX-License-Identifier: Apache-2.0
// The keys of [qos] about classes: [[qos.class]] and preset.
#include <limits>
#include <optional>

#include "config/blocks.h"
#include "config/policy_codecs.h"
#include "config/qos_classes.h"
#include "config/rows.h"
#include "config/scalars.h"
#include "config/toml_reader.h"

namespace smd::config {
namespace {

constexpr std::string_view kPercentAllowed = "a percentage from 1 to 99, as in \"40 %\", or \"unset\"";

/// "40 %", "40%" or 40.
std::optional<std::uint8_t> percent_of(const Value& value) {
  std::optional<std::uint64_t> number;
  if (value.kind == Value::Kind::whole && value.whole >= 0) number = static_cast<std::uint64_t>(value.whole);
  if (value.kind == Value::Kind::text && value.text.ends_with('%'))
    number = parse_number(trim(std::string_view(value.text).substr(0, value.text.size() - 1)));
  if (!number || *number < 1 || *number > 99) return std::nullopt;
  return static_cast<std::uint8_t>(*number);
}

Codec<std::optional<std::uint8_t>> percentage() {
  using Percent = std::optional<std::uint8_t>;
  Codec<Percent> codec;
  codec.allowed = kPercentAllowed;
  codec.read = [](const Value& value, const Spot& spot) -> std::optional<Percent> {
    if (value.kind == Value::Kind::text && value.text == "unset") return Percent{};
    const auto found = percent_of(value);
    if (found) return std::optional<Percent>(std::in_place, found);
    spot.wrong(value, std::string(kPercentAllowed));
    return std::nullopt;
  };
  codec.show = [](const Percent& percent) {
    return percent ? fmt::format("\"{} %\"", *percent) : "\"unset\"";
  };
  return codec;
}

/// A list of texts of which `is_right` takes each.
Codec<std::vector<std::string>> words(std::string allowed, bool (*is_right)(std::string_view)) {
  Codec<std::vector<std::string>> codec;
  codec.form = Form::list;
  codec.allowed = std::move(allowed);
  codec.read = [is_right, may = codec.allowed](const Value& value,
                                               const Spot& spot) -> std::optional<std::vector<std::string>> {
    if (value.kind != Value::Kind::list) {
      spot.wrong(value, may);
      return std::nullopt;
    }
    std::vector<std::string> found;
    const bool good = read_each(value, spot, [&](const Value& item, const Spot& at) {
      if (item.kind != Value::Kind::text || !is_right(item.text)) return at.wrong(item, may);
      found.push_back(item.text);
    });
    return good ? std::optional(std::move(found)) : std::nullopt;
  };
  codec.show = [](const std::vector<std::string>& list) { return show_strings(list); };
  return codec;
}

/// Of a number that is no P_Key it is said which are.
Codec<std::vector<std::string>> class_partitions() {
  auto codec = words("a list of names of partitions, and of P_Keys in quotes (\"0x8012\")", is_policy_name);
  codec.read = [read = codec.read](const Value& value, const Spot& spot) {
    auto found = read(value, spot);
    if (!found) return found;
    const bool good = read_each(value, spot, [](const Value& item, const Spot& at) {
      if (is_pkey_item(item.text) && !pkey_of_item(item.text))
        at.wrong(
            item,
            "a P_Key from 0x0001 to 0x7fff, or the same with the bit of full members (0x8001 to 0xffff)");
    });
    return good ? found : std::nullopt;
  };
  return codec;
}

bool is_class_ulp(std::string_view word) {
  return word == kSmWord || word == "ipoib" || service_ids_of_word(word).has_value();
}

std::vector<BlockKey<ConfiguredQosClass>> class_keys() {
  using C = ConfiguredQosClass;
  return {
      block_key({.name = "name",
                 .doc = "What the class is called. Partitions name it by qos_class.",
                 .example = "\"storage\"",
                 .required = true,
                 .unique = true},
                &C::name, policy_name("a class")),
      block_key(
          {.name = "share",
           .doc = "Its part of a link while all classes send, in percent of what high priority leaves. Of "
                  "a class of high priority: the part of the link that it has at most, 50 or more. "
                  "Unset: an equal part of what the others leave.",
           .example = "\"40 %\""},
          &C::share, percentage()),
      block_key({.name = "minimum",
                 .doc = "Instead of share: at least this part, and an equal part of what is left over."},
                &C::minimum, percentage()),
      block_key(
          {.name = "high_priority",
           .doc = "Its packets go before those of all other classes: for traffic that is small, or that "
                  "waits for its answer."},
          &C::high_priority, flag("before all others", "in turns with the others")),
      block_key({.name = "default",
                 .doc = "It has what no other class has, and SL 0. Without such a block there is a class "
                        "\"default\"."},
                &C::standard, flag("what no other class has", "what is named below")),
      block_key(
          {.name = "sl",
           .doc = "Its SL. Give it where classes come and go: without it a class has the lowest one that "
                  "is free, in the order of the file.",
           .example = "2"},
          &C::sl, whole_or_word<std::uint8_t>(0, 15, "auto")),
      block_key(
          {.name = "partitions", .doc = "Partitions, by name or P_Key.", .example = "[\"blue\", \"0x8012\"]"},
          &C::partitions, class_partitions()),
      block_key({.name = "ulps",
                 .doc = "Protocols: \"lustre\", \"nvmeof\", \"nfsrdma\", \"iser\", \"rds\", \"sdp\" at their "
                        "usual ports or as \"nvmeof:4421\"; \"gpfs:PORT\", \"beegfs:PORT\"; \"ipoib\" on the "
                        "default partition; \"sm\": what hosts ask the SM.",
                 .example = "[\"nvmeof\", \"gpfs:1191\"]"},
                &C::ulps,
                words("a list of lustre, nvmeof, nfsrdma, iser, rds, sdp (also with :PORT), gpfs:PORT, "
                      "beegfs:PORT, ipoib and sm, in quotes",
                      is_class_ulp)),
      block_key(
          {.name = "service_id", .doc = "Service IDs.", .example = "[\"0x0000000001061144\"]"},
          &C::service_id,
          qos_ranges("service IDs (\"0x0000000001060cbc\")", std::numeric_limits<std::uint64_t>::max())),
      block_key(
          {.name = "ports", .doc = "Ports that paths begin or end at.", .example = "[\"group:storage\"]"},
          &C::ports, port_terms(", \"partition:NAME\"")),
  };
}

}  // namespace

std::vector<Key> qos_class_keys() {
  BlockOptions<ConfiguredQosClass> options;
  options.place = [](ConfiguredQosClass& block, const Value& table) { block.line.value = table.line; };
  options.check = [](const ConfiguredQosClass& block, const Value& table, const Spot& at) {
    if (block.share && block.minimum) at.refuse_in(table, "minimum", "only one of share and minimum");
    if (block.standard && block.high_priority)
      at.refuse_in(table, "high_priority",
                   "the default class has no high priority: what is unknown would stop the others");
    if (block.standard && block.sl.value_or(0) != 0)
      at.refuse_in(table, "sl", "the default class has SL 0: programs use it unless told");
    if (!block.standard && block.sl && *block.sl == 0)
      at.refuse_in(table, "sl", "SL 0 is that of the default class (allowed: 1 to 15)");
  };
  return {
      row({.table = "qos",
           .name = "preset",
           .opensm = "",
           .doc = "Classes that need not be written: \"storage+compute\" (Lustre, NVMe-oF, NFS/RDMA and iSER "
                  "have 40 %), \"tenants-equal\" (a class for each partition), \"management-guard\" (what "
                  "hosts ask the SM has high priority)."},
          &SubnetConfig::qos, &QosConfig::preset,
          one_of<QosPreset>({{"none", QosPreset::none},
                             {"storage+compute", QosPreset::storage_compute},
                             {"tenants-equal", QosPreset::tenants_equal},
                             {"management-guard", QosPreset::management_guard}})),
      row({.table = "qos",
           .name = "class",
           .opensm = "",
           .doc = "A class of traffic. Its SL, its VL and the weights of arbitration tables are computed "
                  "(docs/qos.md). A path is in the first class, in the order of the file, that has its "
                  "partition, else its protocol, else one of its ports."},
          &SubnetConfig::qos, &QosConfig::traffic_classes,
          blocks<ConfiguredQosClass>(class_keys(), std::move(options))),
  };
}

}  // namespace smd::config
