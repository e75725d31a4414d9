// SPDX-License-Identifier: Apache-2.0
#include "config/import/qos_conf_items.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <utility>

#include "config/scalars.h"
#include "config/suggest.h"
#include "config/toml_reader.h"
#include "mad/base/rate.h"

namespace smd::config {
namespace {

constexpr std::uint64_t kAnyNumber = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kMostPortOfSwitch = 127;  // opensm's tables have no more
constexpr std::uint64_t kMostLife = 63;           // PacketLifeTime has 6 bits

constexpr std::array<std::string_view, 7> kGroupKeys{"name",      "use",  "port-guid", "port-name",
                                                     "partition", "pkey", "node-type"};
constexpr std::array<std::string_view, 8> kLevelKeys{"name",       "use",         "sl",        "mtu-limit",
                                                     "rate-limit", "packet-life", "path-bits", "pkey"};
constexpr std::array<std::string_view, 7> kRuleKeys{"use",        "qos-class", "source",        "destination",
                                                    "service-id", "pkey",      "qos-level-name"};
constexpr std::array<std::string_view, 5> kVlArbKeys{"group", "across", "vlarb-high", "vlarb-low",
                                                     "vl-high-limit"};
constexpr std::array<std::string_view, 7> kSl2VlKeys{"group", "across", "across-from", "across-to",
                                                     "from",  "to",     "sl2vl-table"};

constexpr std::string_view block_name(QosBlock block) {
  switch (block) {
    case QosBlock::group:
      return "port-group";
    case QosBlock::level:
      return "qos-level";
    case QosBlock::rule:
      return "qos-match-rule";
    case QosBlock::vlarb_scope:
      return "vlarb-scope";
    case QosBlock::sl2vl_scope:
      return "sl2vl-scope";
    case QosBlock::none:
      break;
  }
  return "";
}

/// Keys that a block may have once; opensm refuses the file where they stand twice.
constexpr std::array<std::string_view, 8> kOnlyOnce{
    "name", "use", "sl", "mtu-limit", "rate-limit", "packet-life", "sl2vl-table", "qos-level-name"};

template <class T>
void append(std::vector<T>& into, std::optional<std::vector<T>> more) {
  if (more)
    into.insert(into.end(), std::make_move_iterator(more->begin()), std::make_move_iterator(more->end()));
}

bool equal_ignoring_case(std::string_view a, std::string_view b) { return edit_distance(a, b) == 0; }

}  // namespace

std::span<const std::string_view> QosConfItems::keys_of(QosBlock block) {
  switch (block) {
    case QosBlock::group:
      return kGroupKeys;
    case QosBlock::level:
      return kLevelKeys;
    case QosBlock::rule:
      return kRuleKeys;
    case QosBlock::vlarb_scope:
      return kVlArbKeys;
    case QosBlock::sl2vl_scope:
      return kSl2VlKeys;
    case QosBlock::none:
      break;
  }
  return {};
}

void QosConfItems::begin(QosBlock block) {
  block_ = block;
  begin_ = notes_.line();
  lines_.clear();
  wrong_.clear();
  group_ = {.source = source()};
  level_ = {.source = source()};
  rule_ = {.source = source()};
}

/// False, with an error, for a second one of a key that may stand once.
bool QosConfItems::once(const QosValue& value) {
  const auto [at, fresh] = lines_.emplace(value.key, notes_.line());
  if (fresh || std::ranges::find(kOnlyOnce, value.key) == kOnlyOnce.end()) return true;
  notes_.refuse(value.key, fmt::format("a {} has one {}, and line {} has it already", block_name(block_),
                                       value.key, at->second));
  return false;
}

void QosConfItems::set(std::string_view key, std::string_view text) {
  const QosValue value{.key = key, .text = text, .notes = notes_};
  if (text.empty()) {
    note_wrong(key);
    return notes_.refuse(key, "a value is missing behind the ':'");
  }
  if (!once(value)) return;
  switch (block_) {
    case QosBlock::group:
      return set_group(value);
    case QosBlock::level:
      return set_level(value);
    case QosBlock::rule:
      return set_rule(value);
    case QosBlock::vlarb_scope:
      return check_vlarb(value);
    case QosBlock::sl2vl_scope:
      return check_sl2vl(value);
    case QosBlock::none:
      break;
  }
}

void QosConfItems::set_group(const QosValue& value) {
  if (value.key == "name") {
    group_.name = read_qos_name(value).value_or("");
  } else if (value.key == "use") {
    group_.use = read_qos_text(value.text);
  } else if (value.key == "port-guid") {
    append(group_.port_guids, read_qos_ranges(value, kAnyNumber, "a port GUID such as 0x0002c90300001234"));
  } else if (value.key == "port-name") {
    append(group_.port_names, read_qos_port_names(value));
  } else if (value.key == "partition") {
    append(group_.partitions, read_qos_names(value));
  } else if (value.key == "pkey") {
    append(group_.pkeys, read_qos_pkeys(value));
  } else {
    add_node_types(value);
  }
}

void QosConfItems::add_node_types(const QosValue& value) {
  static const std::vector<std::string> kTypes{"CA", "SWITCH", "ROUTER", "ALL", "SELF"};
  auto rest = value.text;
  for (bool more = true; more;) {
    const auto comma = rest.find(',');
    const auto word = trim(rest.substr(0, comma));
    const auto type =
        std::ranges::find_if(kTypes, [&](const auto& name) { return equal_ignoring_case(name, word); });
    if (type == kTypes.end())
      return notes_.wrong(value.key, word, "CA, SWITCH, ROUTER, ALL or SELF", did_you_mean(word, kTypes));
    const auto all = *type == "ALL";
    group_.cas = group_.cas || all || *type == "CA";
    group_.switches = group_.switches || all || *type == "SWITCH";
    group_.routers = group_.routers || all || *type == "ROUTER";
    group_.self = group_.self || *type == "SELF";
    more = comma != std::string_view::npos;
    if (more) rest.remove_prefix(comma + 1);
  }
}

void QosConfItems::set_level(const QosValue& value) {
  if (value.key == "name") {
    level_.name = read_qos_name(value).value_or("");
  } else if (value.key == "use") {
    level_.use = read_qos_text(value.text);
  } else if (value.key == "path-bits") {
    append(level_.path_bits, read_qos_ranges(value, kAnyNumber, "a number"));
    notes_.warn(value.key, "opensm reads it and does nothing with it: ignored");
  } else if (value.key == "pkey") {
    append(level_.pkeys, read_qos_pkeys(value));
  } else {
    set_limit(value);
  }
}

void QosConfItems::set_limit(const QosValue& value) {
  const auto code = [&](std::uint64_t least, std::uint64_t most, std::string_view meaning) {
    const auto number = read_qos_number(value, least, most, meaning);
    return number ? std::optional(static_cast<std::uint8_t>(*number)) : std::nullopt;
  };
  if (value.key == "sl") {
    if (const auto sl = code(0, 15, "an SL from 0 to 15")) level_.sl = Sl{*sl};
  } else if (value.key == "mtu-limit") {
    if (const auto mtu = code(1, 5, "a code from 1 to 5, for 256, 512, 1024, 2048 and 4096 bytes"))
      level_.mtu_limit = static_cast<Mtu>(*mtu);
  } else if (value.key == "rate-limit") {
    if (const auto rate = code(2, 25, "a code from 2 to 25, such as 3 for 10 Gb/s, 16 for 100, 21 for 400"))
      level_.rate_limit = *rate;
  } else {
    level_.packet_life = code(0, kMostLife, "a code from 0 to 63, for 4.096 us * 2^code");
  }
}

void QosConfItems::set_rule(const QosValue& value) {
  if (value.key == "use") {
    rule_.use = read_qos_text(value.text);
  } else if (value.key == "qos-class") {
    append(rule_.qos_classes, read_qos_ranges(value, kMostQosClass, "a QoS class from 0 to 4095"));
  } else if (value.key == "source") {
    append(rule_.source_groups, read_qos_names(value));
  } else if (value.key == "destination") {
    append(rule_.destination_groups, read_qos_names(value));
  } else if (value.key == "service-id") {
    append(rule_.service_ids, read_qos_ranges(value, kAnyNumber, "a service ID such as 0x0000000001060cbc"));
  } else if (value.key == "pkey") {
    append(rule_.pkeys, read_qos_pkeys(value));
  } else {
    rule_.level = read_qos_name(value).value_or("");
  }
}

void QosConfItems::check_vlarb(const QosValue& value) {
  if (value.key == "group" || value.key == "across") {
    read_qos_names(value);
  } else if (value.key == "vl-high-limit") {
    read_qos_number(value, 0, kAnyNumber, "a number");
  } else {
    read_qos_pairs(value);
  }
}

void QosConfItems::check_sl2vl(const QosValue& value) {
  if (value.key == "sl2vl-table") return check_sl2vl_table(value);
  const bool ports = value.key == "from" || value.key == "to";
  if (!ports) {
    read_qos_names(value);
  } else if (value.text != "*") {
    read_qos_ranges(value, kMostPortOfSwitch, "'*', or a port number from 0 to 127");
  }
}

void QosConfItems::check_sl2vl_table(const QosValue& value) {
  const auto vls = read_qos_ranges(value, 15, "a VL from 0 to 15");
  if (!vls) return;
  if (value.text.contains('-')) return notes_.wrong(value.key, value.text, "16 VLs, one for each SL");
  if (vls->size() != 16)
    notes_.refuse(value.key, fmt::format("{} VLs instead of 16, one for each SL", vls->size()));
}

/// Named by the line where the block begins: the one that ends it shows nothing.
void QosConfItems::missing(std::string_view what) {
  const auto line = notes_.line();
  notes_.set_line(begin_);
  notes_.refuse("", fmt::format("this {} has no {}", block_name(block_), what));
  notes_.set_line(line);
}

void QosConfItems::end() {
  if (block_ == QosBlock::group) {
    if (!given("name")) return missing("name");
    policy_.groups.push_back(std::move(group_));
  } else if (block_ == QosBlock::level) {
    if (!given("sl")) return missing("sl");
    if (!given("name")) return missing("name");
    policy_.levels.push_back(std::move(level_));
  } else if (block_ == QosBlock::rule) {
    if (!given("qos-level-name")) return missing("qos-level-name");
    policy_.rules.push_back(std::move(rule_));
  } else if (block_ == QosBlock::vlarb_scope) {
    if (!given("group") && !given("across")) missing("group and no across");
  } else if (block_ == QosBlock::sl2vl_scope) {
    if (!given("sl2vl-table")) return missing("sl2vl-table");
    if (!given("group") && !given("across") && !given("across-to") && !given("across-from"))
      missing("group, across, across-to or across-from");
  }
}

}  // namespace smd::config
