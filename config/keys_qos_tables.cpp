// SPDX-License-Identifier: Apache-2.0
// The keys of [qos] about the tables of ports, in OpenSM's names and words, and [[qos.ports]].
#include <algorithm>
#include <array>
#include <string>

#include "config/blocks.h"
#include "config/import/c_number.h"
#include "config/policy_codecs.h"
#include "config/rows.h"
#include "config/scalars.h"

namespace smd::config {
namespace {

constexpr std::size_t kMostEntries = 64, kSls = 16;
constexpr std::uint64_t kLastVl = 14, kDiscard = 15, kMostWeight = 255;

std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> items;
  while (!trim(text).empty()) {
    const auto comma = text.find(',');
    items.push_back(trim(text.substr(0, comma)));
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
  }
  return items;
}

/// As OpenSM writes it in its own file, too.
bool is_unset(std::string_view text) { return trim(text).empty() || trim(text) == "(null)"; }

/// A number up to `most`, as OpenSM reads it: 0x10 is 16, and 010 is 8.
std::optional<std::uint8_t> small_number(std::string_view text, std::uint64_t most) {
  const auto digits = trim(text);
  if (digits.empty() || digits[0] < '0' || digits[0] > '9') return std::nullopt;
  const auto number = read_c_number(digits);
  if (!number.rest.empty() || !number.exact || number.value > most) return std::nullopt;
  return static_cast<std::uint8_t>(number.value);
}

/// "0:4,1:0". What is wrong is named with its place in the list.
Codec<std::optional<ArbitrationList>> arbitration() {
  using List = std::optional<ArbitrationList>;
  Codec<List> codec;
  codec.allowed = "at most 64 VL:WEIGHT in quotes, VL 0 to 14, weight 0 to 255 (units of 64 bytes)";
  codec.read = [allowed = codec.allowed](const Value& value, const Spot& spot) -> std::optional<List> {
    if (value.kind != Value::Kind::text) {
      spot.wrong(value, allowed);
      return std::nullopt;
    }
    if (is_unset(value.text)) return List{};
    ArbitrationList list;
    for (const auto item : split_list(value.text)) {
      const auto colon = item.find(':');
      const auto vl = small_number(item.substr(0, colon), kLastVl);
      const auto weight =
          colon == std::string_view::npos ? std::nullopt : small_number(item.substr(colon + 1), kMostWeight);
      if (!vl || !weight) {
        spot.refuse(value, fmt::format("entry {} is \"{}\" (allowed: VL:WEIGHT, VL 0 to 14, weight 0 to 255)",
                                       list.size(), item));
        return std::nullopt;
      }
      list.push_back({Vl{*vl}, *weight});
    }
    if (list.size() > kMostEntries) {
      spot.refuse(value, fmt::format("{} entries (allowed: at most {})", list.size(), kMostEntries));
      return std::nullopt;
    }
    return std::optional<List>(std::in_place, std::move(list));
  };
  codec.show = [](const List& list) {
    std::string out;
    for (std::size_t i = 0; list && i < list->size(); ++i)
      out += fmt::format("{}{}:{}", i == 0 ? "" : ",", (*list)[i].vl, (*list)[i].weight);
    return toml_quoted(out);
  };
  return codec;
}

/// "0,1,2,…": the VL of SL 0, SL 1, …
Codec<std::optional<SlMap>> sl_map() {
  using Map = std::optional<SlMap>;
  Codec<Map> codec;
  codec.allowed =
      "16 VLs in quotes, one for each SL, 0 to 14, or 15 to discard what is sent on that SL; those that "
      "are missing are 0";
  codec.read = [allowed = codec.allowed](const Value& value, const Spot& spot) -> std::optional<Map> {
    if (value.kind != Value::Kind::text) {
      spot.wrong(value, allowed);
      return std::nullopt;
    }
    if (is_unset(value.text)) return Map{};
    const auto items = split_list(value.text);
    SlMap map{};
    if (items.size() > kSls) {
      spot.refuse(value, fmt::format("{} VLs (allowed: 16, one for each SL)", items.size()));
      return std::nullopt;
    }
    for (std::size_t sl = 0; sl < items.size(); ++sl) {
      const auto vl = small_number(items[sl], kDiscard);
      if (!vl) {
        spot.refuse(value, fmt::format("the VL of SL {} is \"{}\" (allowed: 0 to 15)", sl, items[sl]));
        return std::nullopt;
      }
      map[sl] = Vl{*vl};
    }
    return Map(map);
  };
  codec.show = [](const Map& map) {
    std::string out;
    for (std::size_t sl = 0; map && sl < kSls; ++sl)
      out += fmt::format("{}{}", sl == 0 ? "" : ",", (*map)[sl]);
    return toml_quoted(out);
  };
  return codec;
}

Codec<std::optional<std::uint8_t>> high_limit() {
  auto codec = whole_or_word<std::uint8_t>(0, 255, "unset");
  codec.explain = [](const std::optional<std::uint8_t>& limit) -> std::string {
    if (!limit) return "";
    if (*limit == 0) return "one packet of high priority, then one of low";
    if (*limit == 255) return "without limit: low priority can starve";
    return fmt::format("whole packets of high priority until they are {} bytes or more, then one of low",
                       *limit * 4096);
  };
  return codec;
}

Codec<std::optional<std::uint8_t>> max_vls() { return whole_or_word<std::uint8_t>(1, 15, "unset"); }

/// Names and documentation of the keys of one kind of port.
struct ClassKeys {
  std::array<std::string_view, 5> names;  ///< max_vls, high_limit, vlarb_high, vlarb_low, sl2vl
  std::array<std::string_view, 5> opensm;
  std::array<std::string_view, 5> docs;
  std::optional<PortClass> of{};  ///< nothing: of all ports
};

constexpr std::array<ClassKeys, 5> kClassKeys{{
    {{"max_vls", "high_limit", "vlarb_high", "vlarb_low", "sl2vl"},
     {"qos_max_vls", "qos_high_limit", "qos_vlarb_high", "qos_vlarb_low", "qos_sl2vl"},
     {"SLs are mapped to so many VLs at most: the largest of 1, 2, 4, 8 and 15 that is not above, and that "
      "the link has (OperationalVLs, [links] operational_vls). Layered engines have no more between "
      "switches. In OpenSM the option has no effect. Unset: as many as the link has.",
      "How much of high priority a port sends before it lets a packet of low priority pass, in units of "
      "4 KiB; 0: one packet, 255: no limit. Unset: 0.",
      "The VL arbitration table of high priority: VL:WEIGHT in units of 64 bytes, in the order of turns. "
      "Empty: \"0:4\" and no weight for VLs 1 to 14.",
      "The table of low priority. Empty: \"0:0\" and weight 4 for VLs 1 to 14.",
      "The VL of each SL. Empty: VL n for SL n, and 7 for SL 15."},
     std::nullopt},
    {{"ca_max_vls", "ca_high_limit", "ca_vlarb_high", "ca_vlarb_low", "ca_sl2vl"},
     {"qos_ca_max_vls", "qos_ca_high_limit", "qos_ca_vlarb_high", "qos_ca_vlarb_low", "qos_ca_sl2vl"},
     {"Of adapters' ports. Unset: max_vls.", "Of adapters' ports. Unset: high_limit.",
      "Of adapters' ports. Empty: vlarb_high.", "Of adapters' ports. Empty: vlarb_low.",
      "Of adapters' ports. Empty: sl2vl."},
     PortClass::ca},
    {{"rtr_max_vls", "rtr_high_limit", "rtr_vlarb_high", "rtr_vlarb_low", "rtr_sl2vl"},
     {"qos_rtr_max_vls", "qos_rtr_high_limit", "qos_rtr_vlarb_high", "qos_rtr_vlarb_low", "qos_rtr_sl2vl"},
     {"Of routers' ports. Unset: max_vls.", "Of routers' ports. Unset: high_limit.",
      "Of routers' ports. Empty: vlarb_high.", "Of routers' ports. Empty: vlarb_low.",
      "Of routers' ports. Empty: sl2vl."},
     PortClass::router},
    {{"sw0_max_vls", "sw0_high_limit", "sw0_vlarb_high", "sw0_vlarb_low", "sw0_sl2vl"},
     {"qos_sw0_max_vls", "qos_sw0_high_limit", "qos_sw0_vlarb_high", "qos_sw0_vlarb_low", "qos_sw0_sl2vl"},
     {"Of enhanced ports 0 of switches. Unset: max_vls.", "Of enhanced ports 0. Unset: high_limit.",
      "Of enhanced ports 0. Empty: vlarb_high.", "Of enhanced ports 0. Empty: vlarb_low.",
      "Of enhanced ports 0. Empty: sl2vl."},
     PortClass::switch_port0},
    {{"swe_max_vls", "swe_high_limit", "swe_vlarb_high", "swe_vlarb_low", "swe_sl2vl"},
     {"qos_swe_max_vls", "qos_swe_high_limit", "qos_swe_vlarb_high", "qos_swe_vlarb_low", "qos_swe_sl2vl"},
     {"Of external ports of switches. Unset: max_vls.", "Of external ports of switches. Unset: high_limit.",
      "Of external ports of switches. Empty: vlarb_high.", "Of external ports of switches. Empty: vlarb_low.",
      "Of external ports of switches. Empty: sl2vl."},
     PortClass::switch_external},
}};

void add_class(std::vector<Key>& keys, const ClassKeys& about) {
  const auto tables = [of = about.of](auto& settings) -> auto& {
    auto& qos = settings.subnet.qos;
    return of ? qos.classes[static_cast<std::size_t>(*of)] : qos.all;
  };
  const auto add = [&](std::size_t i, auto member, auto codec) {
    keys.push_back(row(
        {"qos", about.names[i], about.opensm[i], about.docs[i]},
        [tables, member](auto& settings) -> auto& { return tables(settings).*member; }, std::move(codec)));
  };
  add(0, &QosTables::max_vls, max_vls());
  add(1, &QosTables::high_limit, high_limit());
  add(2, &QosTables::vlarb_high, arbitration());
  add(3, &QosTables::vlarb_low, arbitration());
  add(4, &QosTables::sl2vl, sl_map());
}

template <class T>
BlockKey<QosPorts> table_key(std::string_view name, std::string_view doc, std::string_view example,
                             T QosTables::* member, Codec<T> codec) {
  return block_key<QosPorts, T>({.name = name, .doc = doc, .example = example}, member, std::move(codec));
}

/// A list that a script left empty would give the tables to no port.
void check_qos_ports(const QosPorts& block, const Value& table, const Spot& at) {
  const auto given = std::ranges::find(table.items, "ports", &Value::key);
  if (!block.ports.empty() || given == table.items.end()) return;
  at.with_key(at.key + ".ports")
      .wrong(*given, "one item at least, as the block is for these ports alone",
             "keys of [qos] are for all ports");
}

Codec<std::vector<QosPorts>> qos_ports() {
  BlockOptions<QosPorts> options;
  options.place = [](QosPorts& block, const Value& table) { block.line.value = table.line; };
  options.check = check_qos_ports;
  std::vector<BlockKey<QosPorts>> keys{
      block_key({.name = "ports",
                 .doc = "The ports. Of a switch's external ports \"NODE:PORT\" and \"ALL_SWITCH_TO_SWITCH\".",
                 .example = "[\"storage*\"]",
                 .required = true},
                &QosPorts::ports, port_terms(", \"ALL_SWITCH_TO_SWITCH\", \"partition:NAME\"")),
      table_key("high_limit", "As in [qos].", "10", &QosTables::high_limit, high_limit()),
      table_key("vlarb_high", "As in [qos].", "\"0:64\"", &QosTables::vlarb_high, arbitration()),
      table_key("vlarb_low", "As in [qos].", "\"0:0,1:64,2:32\"", &QosTables::vlarb_low, arbitration()),
      table_key("sl2vl", "As in [qos].", "\"0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7\"", &QosTables::sl2vl, sl_map()),
  };
  return blocks<QosPorts>(std::move(keys), std::move(options));
}

}  // namespace

std::vector<Key> qos_table_keys() {
  std::vector<Key> keys{
      row({.table = "qos",
           .name = "sm_sl",
           .opensm = "sm_sl",
           .doc = "The SL on which hosts ask the SM (PortInfo.MasterSMSL)."},
          &SubnetConfig::qos, &QosConfig::sm_sl, whole<Sl>(0, 15)),
      row({.table = "qos",
           .name = "use_optimized_slvl",
           .opensm = "use_optimized_slvl",
           .doc = "Set SL to VL tables of all ports of a switch at once where the switch says it can "
                  "(OptimizedSLtoVLMappingProgramming)."},
          &SubnetConfig::qos, &QosConfig::optimized_sl2vl,
          flag("one Set a switch that can", "a Set for each pair of ports")),
  };
  for (const auto& about : kClassKeys) add_class(keys, about);
  keys.push_back(row({.table = "qos",
                      .name = "ports",
                      .opensm = "",
                      .doc = "Tables of some ports. The first block that has a port counts; what it does not "
                             "say is taken from [qos]."},
                     &SubnetConfig::qos, &QosConfig::ports, qos_ports()));
  return keys;
}

}  // namespace smd::config
