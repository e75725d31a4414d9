// SPDX-License-Identifier: Apache-2.0
// Commands about a node: what it stops doing, does wrong, or shows differently.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mad/sim/console/command.h"
#include "mad/sim/state/tables.h"
#include "mad/wire/attributes.h"
#include "mad/wire/mad.h"

namespace smd::sim {
namespace {

constexpr std::array<std::uint16_t, 14> kAttributes{wire::NodeDescription::kAttribute,
                                                    wire::NodeInfo::kAttribute,
                                                    wire::SwitchInfo::kAttribute,
                                                    wire::GuidInfo::kAttribute,
                                                    wire::PortInfo::kAttribute,
                                                    wire::PKeyTable::kAttribute,
                                                    wire::SlToVl::kAttribute,
                                                    wire::VlArbitration::kAttribute,
                                                    wire::LinearForwardingTable::kAttribute,
                                                    wire::MulticastForwardingTable::kAttribute,
                                                    wire::SmInfo::kAttribute,
                                                    wire::PortInfoExtended::kAttribute,
                                                    wire::MlnxExtPortInfo::kAttribute,
                                                    wire::ArInfo::kAttribute};

/// By name ("PortInfo") or number.
std::optional<std::uint16_t> attribute_of(std::string_view text) {
  for (const auto attribute : kAttributes) {
    if (wire::attribute_name(attribute) == text) return attribute;
  }
  const auto number = whole(text, 0xFFFF);
  if (!number) return std::nullopt;
  return static_cast<std::uint16_t>(*number);
}
constexpr std::string_view kAttributeIs = "the name of an SMP attribute, as PortInfo, or 0 to 65535";

template <class A>
bool has_field(std::string_view name) {
  bool found = false;
  wire::for_each_field<A>([&](const auto& row) { found = found || row.name == name; });
  return found;
}
/// Fields that a Set can change and a node can forget.
bool can_forget(std::uint16_t attribute, std::string_view field) {
  const bool table = attribute == wire::LinearForwardingTable::kAttribute ||
                     attribute == wire::MulticastForwardingTable::kAttribute;
  if (table) return field == "all" || whole(field, 0xFFFF);
  if (attribute == wire::PortInfo::kAttribute) return has_field<wire::PortInfo>(field);
  if (attribute == wire::ArInfo::kAttribute) return has_field<wire::ArInfo>(field);
  return attribute == wire::SwitchInfo::kAttribute && has_field<wire::SwitchInfo>(field);
}

constexpr std::uint8_t kMostVlCap = 5;
constexpr double kLongestReboot = 1e6, kSlowest = 1e9;
constexpr std::string_view kForm =
    "node silent|nosmi|remove|restore NODE, slow MS NODE, reboot NODE [SECONDS], answers NODE ATTRIBUTE…, "
    "refuses NODE ATTRIBUTE STATUS, forgets NODE ATTRIBUTE FIELD, name|guid|image|fdbcap|vls NODE VALUE, "
    "abovetop NODE accepted|ignored|refused, bit31 NODE accepted|ignored|refused [STATUS]";

}  // namespace

Command::Result Command::node() {
  if (word(1) == "answers" || word(1) == "refuses" || word(1) == "forgets") return node_lacks();
  if (word(1) == "name" || word(1) == "guid" || word(1) == "image" || word(1) == "fdbcap" ||
      word(1) == "vls" || word(1) == "abovetop")
    return node_shows();
  if (word(1) == "bit31") return node_bit31();
  const bool slow = word(1) == "slow", reboot = word(1) == "reboot";
  if (auto good = count(slow ? 4 : 3, slow || reboot ? 4 : 3, kForm); !good)
    return std::unexpected(good.error());
  const std::size_t at = slow ? 3 : 2;
  const auto index = find_node(fabric_.state(), word(at));
  if (!index) return no_node(at);
  auto faults = fabric_.faults();
  if (word(1) == "silent") {
    faults.silent(word(at));
  } else if (word(1) == "nosmi") {
    faults.no_smi(word(at));
  } else if (reboot) {
    const auto seconds = words_.size() == 4 ? number(word(3), kLongestReboot) : std::optional(0.0);
    if (!seconds) return bad("time", word(3), up_to(kLongestReboot, "seconds"));
    faults.reboot(word(at), microseconds(*seconds * 1e6));
  } else if (word(1) == "remove") {
    faults.remove(word(at));
  } else if (word(1) == "restore") {
    faults.heal(word(at));
    if (fabric_.state().nodes[*index].gone) faults.restore(word(at));
  } else if (slow) {
    const auto milliseconds = number(word(2), kSlowest);
    if (!milliseconds) return bad("delay", word(2), up_to(kSlowest, "milliseconds"));
    faults.slow(word(at), microseconds(*milliseconds * 1e3));
  } else {
    return bad("node", word(1), kForm);
  }
  return {};
}

/// What it does not do: answers, refuses, forgets.
Command::Result Command::node_lacks() {
  const bool answers = word(1) == "answers";
  if (auto good = count(answers ? 4 : 5, answers ? words_.size() : 5, kForm); !good)
    return std::unexpected(good.error());
  if (!has_node(2)) return no_node(2);
  auto faults = fabric_.faults();
  if (answers) {
    std::vector<std::uint16_t> attributes;
    for (std::size_t i = 3; i < words_.size(); ++i) {
      const auto attribute = attribute_of(word(i));
      if (!attribute) return bad("attribute", word(i), kAttributeIs);
      attributes.push_back(*attribute);
    }
    faults.answers_only(word(2), std::move(attributes));
    return {};
  }
  const auto attribute = attribute_of(word(3));
  if (!attribute) return bad("attribute", word(3), kAttributeIs);
  if (word(1) == "forgets") {
    if (!can_forget(*attribute, word(4)))
      return bad("field", word(4),
                 "a field of PortInfo, SwitchInfo or ARInfo, as smpquery names it, or of a forwarding table "
                 "a LID or all");
    faults.forgets(word(2), *attribute, std::string(word(4)));
    return {};
  }
  const auto status = whole(word(4), 0x7FFF);
  if (!status) return bad("status", word(4), "0 to 32767; 0 ends it");
  faults.refuses(word(2), *attribute, static_cast<std::uint16_t>(*status));
  return {};
}

/// What it shows: name, guid, image, fdbcap, vls.
Command::Result Command::node_shows() {
  if (auto good = count(4, 4, kForm); !good) return std::unexpected(good.error());
  if (!has_node(2)) return no_node(2);
  auto faults = fabric_.faults();
  if (word(1) == "name") {
    faults.rename(word(2), std::string(word(3)));
    return {};
  }
  if (word(1) == "abovetop") {
    static constexpr std::array<std::string_view, 3> kDoes{"accepted", "ignored", "refused"};
    const auto does = std::ranges::find(kDoes, word(3));
    if (does == kDoes.end()) return bad("answer", word(3), "accepted, ignored or refused");
    if (!faults.above_top(word(2), static_cast<AboveTop>(does - kDoes.begin())))
      return bad("node", word(2), "a switch");
    return {};
  }
  if (word(1) == "vls") {
    for (std::uint8_t code = 1; code <= kMostVlCap; ++code) {
      if (word(3) == std::to_string(data_vls(code))) {
        faults.vl_cap(word(2), code);
        return {};
      }
    }
    return bad("value", word(3), "1, 2, 4, 8 or 15");
  }
  const bool cap = word(1) == "fdbcap";
  const auto value = whole(word(3), cap ? 0xFFFF : ~std::uint64_t{0});
  if (!value) return bad("value", word(3), cap ? "0 to 65535" : kAny64);
  if (cap && !faults.linear_fdb_cap(word(2), static_cast<std::uint16_t>(*value)))
    return bad("node", word(2), "a switch");
  if (word(1) == "guid") faults.set_guid(word(2), Guid{*value});
  if (word(1) == "image") faults.set_system_image(word(2), Guid{*value});
  return {};
}

/// What it does with the bit of PortInfo's modifier by which an SM says that it knows extended speeds.
Command::Result Command::node_bit31() {
  if (auto good = count(4, 5, kForm); !good) return std::unexpected(good.error());
  if (!has_node(2)) return no_node(2);
  const bool refused = word(3) == "refused";
  if (!refused && (word(3) != "accepted" && word(3) != "ignored"))
    return bad("answer", word(3), "accepted, ignored or refused");
  const auto status =
      words_.size() == 5 ? whole(word(4), 0x7FFF) : std::optional<std::uint64_t>(wire::kStatusBadField);
  if (!status || *status == 0 || (words_.size() == 5 && !refused))
    return bad("status", word(4), "1 to 32767, where it is refused");
  auto faults = fabric_.faults();
  faults.ignores_extended_speeds(word(2), word(3) == "ignored");
  faults.refuses_extended_speeds(word(2), refused ? static_cast<std::uint16_t>(*status) : std::uint16_t{0});
  return {};
}

Command::Result Command::capability() {
  return port_value("capability NODE PORT MASK", 0xFFFF'FFFF,
                    "0 to 0xffffffff, for an adapter's port or a switch's port 0",
                    [&](const Place& there, std::uint64_t value) {
                      return fabric_.faults().set_capabilities(there, static_cast<std::uint32_t>(value));
                    });
}

Command::Result Command::trap() {
  return port_value("trap NODE PORT NUMBER", 0xFFFF,
                    "129, 130 or 131; the others come from what they tell of",
                    [&](const Place& there, std::uint64_t value) {
                      return fabric_.faults().port_error(there, static_cast<std::uint16_t>(value));
                    });
}

}  // namespace smd::sim
