// SPDX-License-Identifier: Apache-2.0
#include "smd/store/kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "mad/base/lines.h"
#include "mad/base/parse.h"
#include "mad/base/split.h"
#include "smd/store/inventory_kinds.h"
#include "smd/store/path_layer_kind.h"
#include "smd/store/sql_values.h"
#include "smd/store/vl_table_kind.h"

namespace smd::store {
namespace {

using sm::Stored;

template <class Row>
const auto& key_of(const Row& row) {
  if constexpr (requires { row.guid; }) {
    return row.guid;
  } else if constexpr (requires { row.second; }) {
    return row.first;
  } else {
    return row;
  }
}

/// Walks two sorted containers (maps, or sets of keys) side by side.
template <class Container, class Key, class Value>
void walk(const Container& before, const Container& now, const ChangeSink& sink, Key key, Value value) {
  auto old = before.begin();
  auto row = now.begin();
  while (old != before.end() || row != now.end()) {
    const bool gone = row == now.end() || (old != before.end() && key_of(*old) < key_of(*row));
    if (gone) {
      sink({key(*old++), std::nullopt});
      continue;
    }
    const bool there = old != before.end() && key_of(*old) == key_of(*row);
    if (!there || *old != *row) sink({key(*row), value(*row)});
    if (there) ++old;
    ++row;
  }
}

// lids: port_guid -> base, lmc

void lids_difference(const Stored& before, const Stored& now, const ChangeSink& sink) {
  walk(
      before.lids, now.lids, sink, [](const auto& row) { return Cells{guid(row.first)}; },
      [](const auto& row) { return Cells{number(row.second.base.value()), number(row.second.lmc)}; });
}

bool decode_lid(const Cells& row, Stored& into) {
  Guid port;
  Stored::LidRange range;
  const bool good =
      read_guid(row[0], port) && read_lid(row[1], range.base) && read_number(row[2], 7, range.lmc);
  if (!good || range.base.value() + range.count() - 1 > kLastUnicastLid.value()) return false;
  return into.lids.insert({port, range}).second;
}

// not_kept: node_guid, port -> lid, fields ("0x0015.NeighborMTU=4 0x0015.SubnetTimeOut=18")

std::string fields_text(const std::vector<sm::NotKept>& fields) {
  std::string text;
  for (const auto& note : fields) {
    fmt::format_to(std::back_inserter(text), "{}0x{:04x}.{}={}", text.empty() ? "" : " ", note.attribute,
                   note.field, note.desired);
  }
  return text;
}

std::optional<sm::NotKept> parse_field(std::string_view word) {
  const auto dot = word.find('.');
  const auto equals = word.rfind('=');
  if (dot == std::string_view::npos || equals == std::string_view::npos || equals <= dot + 1) {
    return std::nullopt;
  }
  const auto attribute = base::parse_number(word.substr(0, dot), 0xffff);
  const auto desired = base::parse_number(word.substr(equals + 1));
  if (!attribute || !desired) return std::nullopt;
  sm::NotKept note;
  note.attribute = static_cast<std::uint16_t>(*attribute);
  note.field = word.substr(dot + 1, equals - dot - 1);
  note.desired = *desired;
  return note;
}

void not_kept_difference(const Stored& before, const Stored& now, const ChangeSink& sink) {
  walk(
      before.not_kept, now.not_kept, sink,
      [](const auto& row) { return Cells{guid(row.first.first), number(row.first.second.value())}; },
      [](const auto& row) { return Cells{number(row.second.lid.value()), fields_text(row.second.fields)}; });
}

bool decode_not_kept(const Cells& row, Stored& into) {
  Guid node;
  PortNum port;
  Stored::Unkept unkept;
  const auto* text = std::get_if<std::string>(&row[3]);
  if (!read_guid(row[0], node) || !read_port(row[1], port) || !read_lid(row[2], unkept.lid)) return false;
  if (text == nullptr || text->empty()) return false;
  for (std::string_view rest = *text; !rest.empty();) {
    auto note = parse_field(base::take_word(rest));
    if (!note) return false;
    note->port = port;
    unkept.fields.push_back(*std::move(note));
  }
  return into.not_kept.emplace(std::pair{node, port}, std::move(unkept)).second;
}

// retrained: node_guid, port, width, speed, speed_ext (with speed_ext2 in bits 8 to 10)

void retrained_difference(const Stored& before, const Stored& now, const ChangeSink& sink) {
  walk(
      before.retrained, now.retrained, sink,
      [](const auto& row) {
        const auto& [node, port, enabled] = row;
        return Cells{guid(node), number(port.value()), number(enabled.width), number(enabled.speed),
                     number(enabled.speed_ext | (unsigned{enabled.speed_ext2} << 8U))};
      },
      [](const auto&) { return Cells{}; });
}

bool decode_retrained(const Cells& row, Stored& into) {
  Guid node;
  PortNum port;
  sm::EnabledLinks enabled;
  std::uint16_t extended = 0;
  const bool good = read_guid(row[0], node) && read_port(row[1], port) &&
                    read_number(row[2], 255, enabled.width) && read_number(row[3], 255, enabled.speed) &&
                    read_number(row[4], 0x7FF, extended);
  enabled.speed_ext = static_cast<std::uint8_t>(extended & 0xFFU);
  enabled.speed_ext2 = static_cast<std::uint8_t>(extended >> 8U);
  return good && into.retrained.insert({node, port, enabled}).second;
}

// reference_switches: guid -> ports, hosts; reference_links: both ends of a cable, the smaller first

/// Not shared yet while rows are read.
routing::ReferenceTopology& reference_in(Stored& into) {
  if (!into.reference) into.reference = std::make_shared<routing::ReferenceTopology>();
  return *std::const_pointer_cast<routing::ReferenceTopology>(into.reference);
}

void switches_difference(const Stored& before, const Stored& now, const ChangeSink& sink) {
  const routing::ReferenceTopology none;
  walk((before.reference ? *before.reference : none).switches,
       (now.reference ? *now.reference : none).switches, sink,
       [](const auto& row) { return Cells{guid(row.guid)}; },
       [](const auto& row) { return Cells{number(row.ports), number(row.hosts)}; });
}

bool decode_switch(const Cells& row, Stored& into) {
  routing::ReferenceTopology::Switch one;
  const bool good = read_guid(row[0], one.guid) && read_number(row[1], 254, one.ports) &&
                    read_number(row[2], 254, one.hosts);
  if (good) reference_in(into).switches.push_back(one);
  return good;
}

void links_difference(const Stored& before, const Stored& now, const ChangeSink& sink) {
  const routing::ReferenceTopology none;
  walk((before.reference ? *before.reference : none).links, (now.reference ? *now.reference : none).links,
       sink,
       [](const auto& row) {
         return Cells{guid(row.a.guid), number(row.a.port.value()), guid(row.b.guid),
                      number(row.b.port.value())};
       },
       [](const auto&) { return Cells{}; });
}

bool decode_link(const Cells& row, Stored& into) {
  routing::ReferenceTopology::Link link;
  const bool good = read_guid(row[0], link.a.guid) && read_port(row[1], link.a.port) &&
                    read_guid(row[2], link.b.guid) && read_port(row[3], link.b.port) && link.a < link.b;
  if (good) reference_in(into).links.push_back(link);
  return good;
}

// pkey_index: port_guid, pkey -> index

void pkeys_difference(const Stored& before, const Stored& now, const ChangeSink& sink) {
  walk(
      before.pkeys, now.pkeys, sink,
      [](const auto& row) { return Cells{guid(row.first.first), number(row.first.second.value())}; },
      [](const auto& row) { return Cells{number(row.second)}; });
}

bool decode_pkey(const Cells& row, Stored& into) {
  Guid port;
  std::uint16_t pkey = 0, index = 0;
  const bool good =
      read_guid(row[0], port) && read_number(row[1], 0xffff, pkey) && read_number(row[2], 0xffff, index);
  return good && PKey{pkey}.partition() != 0 && into.pkeys.insert({{port, PKey{pkey}}, index}).second;
}

// port_keys: port_guid -> keys, at_switch (P_Keys by index with blanks between), enforces (1 in, 2 out), seen

std::string keys_text(const std::vector<PKey>& keys) { return fmt::format("{}", fmt::join(keys, " ")); }

bool read_keys(const Cell& cell, std::vector<PKey>& into) {
  const auto* text = std::get_if<std::string>(&cell);
  if (text == nullptr) return false;
  for (std::string_view rest = *text; !rest.empty();) {
    const auto key = base::parse_pkey(base::take_word(rest));
    if (!key) return false;
    into.push_back(*key);
  }
  return true;
}

void port_keys_difference(const Stored& before, const Stored& now, const ChangeSink& sink) {
  walk(
      before.port_keys, now.port_keys, sink, [](const auto& row) { return Cells{guid(row.first)}; },
      [](const auto& row) {
        const auto& keys = row.second;
        return Cells{keys_text(keys.keys), keys_text(keys.at_switch),
                     number((keys.in ? 1U : 0U) | (keys.out ? 2U : 0U)), keys.seen};
      });
}

bool decode_port_keys(const Cells& row, Stored& into) {
  Guid port;
  Stored::PortKeys keys;
  unsigned enforces = 0;
  const auto* seen = std::get_if<std::int64_t>(&row[4]);
  const bool good = read_guid(row[0], port) && read_keys(row[1], keys.keys) &&
                    read_keys(row[2], keys.at_switch) && read_number(row[3], 3, enforces) &&
                    seen != nullptr && *seen >= 0;
  if (!good) return false;
  keys.in = (enforces & 1U) != 0;
  keys.out = (enforces & 2U) != 0;
  keys.seen = *seen;
  return into.port_keys.emplace(port, std::move(keys)).second;
}

// m_keys: port_guid -> key, before, node_guid, port

void m_keys_difference(const Stored& before, const Stored& now, const ChangeSink& sink) {
  walk(
      before.m_keys, now.m_keys, sink, [](const auto& row) { return Cells{guid(row.first)}; },
      [](const auto& row) {
        const auto& keys = row.second;
        return Cells{number(keys.key), number(keys.before), guid(keys.node), number(keys.port.value())};
      });
}

/// All 64 bits count: above 2^63 the cell is negative.
bool read_m_key(const Cell& cell, std::uint64_t& into) {
  const auto* found = std::get_if<std::int64_t>(&cell);
  if (found != nullptr) into = static_cast<std::uint64_t>(*found);
  return found != nullptr;
}

bool decode_m_key(const Cells& row, Stored& into) {
  Guid port;
  Stored::MKey keys;
  const bool good = read_guid(row[0], port) && read_m_key(row[1], keys.key) &&
                    read_m_key(row[2], keys.before) && read_guid(row[3], keys.node) &&
                    read_port(row[4], keys.port);
  return good && into.m_keys.emplace(port, keys).second;
}

constexpr std::array kMKeysKey{Column{"port_guid", true}};
constexpr std::array kMKeysValue{Column{"m_key"}, Column{"m_key_before"}, Column{"node_guid", true},
                                 Column{"port"}};
constexpr std::array kPortKeysKey{Column{"port_guid", true}};
constexpr std::array kPortKeysValue{Column{"keys", true}, Column{"at_switch", true}, Column{"enforces"},
                                    Column{"seen"}};
constexpr std::array kLidsKey{Column{"port_guid", true}};
constexpr std::array kLidsValue{Column{"base"}, Column{"lmc"}};
constexpr std::array kNotKeptKey{Column{"node_guid", true}, Column{"port"}};
constexpr std::array kNotKeptValue{Column{"lid"}, Column{"fields", true}};
constexpr std::array kRetrainedKey{Column{"node_guid", true}, Column{"port"}, Column{"width"},
                                   Column{"speed"}, Column{"speed_ext"}};

constexpr std::array kSwitchesKey{Column{"node_guid", true}};
constexpr std::array kSwitchesValue{Column{"ports"}, Column{"hosts"}};
constexpr std::array kLinksKey{Column{"a_guid", true}, Column{"a_port"}, Column{"b_guid", true},
                               Column{"b_port"}};

constexpr std::array kPKeysKey{Column{"port_guid", true}, Column{"pkey"}};
constexpr std::array kPKeysValue{Column{"idx"}};

// wire_sls: class, layer -> sl

void wire_sls_difference(const Stored& before, const Stored& now, const ChangeSink& sink) {
  walk(
      before.wire_sls, now.wire_sls, sink,
      [](const auto& row) { return Cells{number(row.first.first.value()), number(row.first.second)}; },
      [](const auto& row) { return Cells{number(row.second.value())}; });
}

bool decode_wire_sl(const Cells& row, Stored& into) {
  std::uint8_t of_class = 0, layer = 0, sl = 0;
  return read_number(row[0], 15, of_class) && read_number(row[1], 15, layer) && read_number(row[2], 15, sl) &&
         into.wire_sls.insert({{Sl{of_class}, layer}, Sl{sl}}).second;
}

// routing_engine: one row

void engine_difference(const Stored& before, const Stored& now, const ChangeSink& sink) {
  if (before.engine == now.engine) return;
  const auto& [name, roots, rules] = now.engine;
  sink(
      {{number(0)},
       name.empty() ? std::optional<Cells>() : Cells{name, fmt::format("{}", fmt::join(roots, ",")), rules}});
}

bool read_roots(const std::string& text, std::vector<Guid>& roots) {
  if (text.empty()) return true;
  for (const auto part : base::split_list(text)) {
    const auto root = base::parse_guid(part);
    if (!root) return false;
    roots.push_back(*root);
  }
  return true;
}

bool decode_engine(const Cells& row, Stored& into) {
  const auto* name = std::get_if<std::string>(&row[1]);
  const auto* roots = std::get_if<std::string>(&row[2]);
  const auto* rules = std::get_if<std::string>(&row[3]);
  if (name == nullptr || name->empty() || roots == nullptr || rules == nullptr) return false;
  into.engine = {.name = *name, .roots = {}, .rules = *rules};
  return read_roots(*roots, into.engine.roots);
}

// left_engine: one row, while there is one

void left_engine_difference(const Stored& before, const Stored& now, const ChangeSink& sink) {
  if (before.left_engine == now.left_engine) return;
  const auto& [name, roots] = now.left_engine;
  sink({{number(0)},
        name.empty() ? std::optional<Cells>() : Cells{name, fmt::format("{}", fmt::join(roots, ","))}});
}

bool decode_left_engine(const Cells& row, Stored& into) {
  const auto* name = std::get_if<std::string>(&row[1]);
  const auto* roots = std::get_if<std::string>(&row[2]);
  if (name == nullptr || name->empty() || roots == nullptr) return false;
  into.left_engine.name = *name;
  return read_roots(*roots, into.left_engine.roots);
}

// repaired_tables: one row, with the digest in hexadecimal

void repaired_tables_difference(const Stored& before, const Stored& now, const ChangeSink& sink) {
  if (before.repaired_tables == now.repaired_tables) return;
  sink({{number(0)},
        now.repaired_tables == 0 ? std::optional<Cells>()
                                 : Cells{fmt::format("{:#018x}", now.repaired_tables)}});
}

bool decode_repaired_tables(const Cells& row, Stored& into) {
  const auto* text = std::get_if<std::string>(&row[1]);
  const auto digest = text != nullptr ? base::parse_guid(*text) : std::nullopt;
  if (!digest || digest->value() == 0) return false;
  into.repaired_tables = digest->value();
  return true;
}

constexpr std::array kRepairedTablesValue{Column{"digest", true}};
constexpr std::array kEngineKey{Column{"id"}};
constexpr std::array kEngineValue{Column{"engine", true}, Column{"roots", true}, Column{"rules", true}};
constexpr std::array kLeftEngineValue{Column{"engine", true}, Column{"roots", true}};
constexpr std::array kWireSlsKey{Column{"class"}, Column{"layer"}};
constexpr std::array kWireSlsValue{Column{"sl"}};
constexpr std::array kInventoryKey{Column{"id"}};
constexpr std::array kInventoryValue{Column{"complete_at"}};
constexpr std::array kNodesKey{Column{"node_guid", true}};
constexpr std::array kNodesValue{Column{"type"}, Column{"name", true}, Column{"lost_at"}};
constexpr std::array kMachinesValue{Column{"system_image", true}};
constexpr std::array kCablesKey{Column{"a_guid", true}, Column{"a_port"}};
constexpr std::array kCablesValue{Column{"b_guid", true}, Column{"b_port"},   Column{"width"},
                                  Column{"speed"},        Column{"up_since"}, Column{"lost_at"}};

constexpr std::array kKinds{
    Kind{{"lids", kLidsKey, kLidsValue}, lids_difference, decode_lid},
    Kind{{"not_kept", kNotKeptKey, kNotKeptValue}, not_kept_difference, decode_not_kept},
    Kind{{"retrained", kRetrainedKey, {}}, retrained_difference, decode_retrained},
    Kind{{"reference_switches", kSwitchesKey, kSwitchesValue}, switches_difference, decode_switch},
    Kind{{"reference_links", kLinksKey, {}}, links_difference, decode_link},
    Kind{{"pkey_index", kPKeysKey, kPKeysValue}, pkeys_difference, decode_pkey},
    Kind{{"port_keys", kPortKeysKey, kPortKeysValue}, port_keys_difference, decode_port_keys},
    Kind{{"vl_tables", kVlTablesKey, kVlTablesValue}, vl_tables_difference, decode_vl_tables},
    Kind{{"path_layers", kPathLayersKey, kPathLayersValue}, path_layers_difference, decode_path_layers},
    Kind{{"wire_sls", kWireSlsKey, kWireSlsValue}, wire_sls_difference, decode_wire_sl},
    Kind{{"routing_engine", kEngineKey, kEngineValue}, engine_difference, decode_engine},
    Kind{{"left_engine", kEngineKey, kLeftEngineValue}, left_engine_difference, decode_left_engine},
    Kind{{"repaired_tables", kEngineKey, kRepairedTablesValue},
         repaired_tables_difference,
         decode_repaired_tables},
    Kind{{"m_keys", kMKeysKey, kMKeysValue}, m_keys_difference, decode_m_key},
    Kind{{"inventory", kInventoryKey, kInventoryValue}, inventory_difference, decode_inventory},
    Kind{{"inventory_nodes", kNodesKey, kNodesValue}, inventory_nodes_difference, decode_inventory_node},
    Kind{{"machines", kNodesKey, kMachinesValue}, machines_difference, decode_machine, erase_machine},
    Kind{{"inventory_links", kCablesKey, kCablesValue},
         inventory_links_difference,
         decode_inventory_link,
         erase_inventory_link},
};

std::string names(std::span<const Column> columns) {
  std::string text;
  for (const auto& column : columns) text += fmt::format(", {}", column.name);
  return text;
}

std::string conditions(std::span<const Column> columns) {
  std::string text = "subnet = ?";
  for (const auto& column : columns) text += fmt::format(" AND {} = ?", column.name);
  return text;
}

}  // namespace

std::string Table::create() const {
  std::string columns = "subnet TEXT NOT NULL";
  for (const auto& list : {key, value}) {
    for (const auto& column : list) {
      columns += fmt::format(", {} {} NOT NULL", column.name, column.text ? "TEXT" : "INTEGER");
    }
  }
  return fmt::format("CREATE TABLE IF NOT EXISTS {} ({}, PRIMARY KEY (subnet{})) STRICT, WITHOUT ROWID;",
                     table, columns, names(key));
}

std::string Table::select() const {
  return fmt::format("SELECT {} FROM {} WHERE subnet = ? ORDER BY {}", (names(key) + names(value)).substr(2),
                     table, names(key).substr(2));
}

std::string Table::put() const {
  std::string marks = "?";
  for (std::size_t i = 0; i < key.size() + value.size(); ++i) marks += ", ?";
  return fmt::format("INSERT OR REPLACE INTO {} (subnet{}{}) VALUES ({})", table, names(key), names(value),
                     marks);
}

std::string Table::erase() const { return fmt::format("DELETE FROM {} WHERE {}", table, conditions(key)); }
std::string Table::clear() const { return fmt::format("DELETE FROM {} WHERE subnet = ?", table); }

std::span<const Kind> kinds() { return kKinds; }

}  // namespace smd::store
