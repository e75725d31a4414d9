// SPDX-License-Identifier: Apache-2.0
#include "config/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "config/rows.h"

namespace smd::config {

std::string Key::path() const {
  return table.empty() ? std::string(name) : fmt::format("{}.{}", table, name);
}

std::string heading(std::string_view table) {
  return table == "subnet" ? "[[subnet]]" : fmt::format("[{}]", table);
}

std::string heading(const Key& array) { return fmt::format("[[{}]]", array.path()); }

const Key* Schema::find(std::string_view table, std::string_view name) const {
  const auto at =
      std::ranges::find_if(keys, [&](const Key& key) { return key.table == table && key.name == name; });
  return at == keys.end() ? nullptr : &*at;
}

const Key* Schema::find_array(std::string_view path) const {
  const auto at = std::ranges::find_if(keys, [&](const Key& key) {
    return key.is_array() && (path == key.path() || path.starts_with(key.path() + "."));
  });
  return at == keys.end() ? nullptr : &*at;
}

std::vector<const Key*> Schema::keys_of(std::string_view table) const {
  std::vector<const Key*> found;
  for (const auto& key : keys) {
    if (key.table == table) found.push_back(&key);
  }
  return found;
}

std::vector<const Key*> Schema::plain_keys_of(std::string_view table) const {
  auto found = keys_of(table);
  std::erase_if(found, [](const Key* key) { return key->form == Form::blocks; });
  return found;
}

std::vector<const Key*> Schema::arrays_of(std::string_view table) const {
  auto found = keys_of(table);
  std::erase_if(found, [](const Key* key) { return !key->is_array(); });
  return found;
}

std::vector<Section> Schema::sections() const {
  std::vector<Section> found;
  const auto add_arrays = [&](std::string_view table) {
    for (const auto* array : arrays_of(table)) found.push_back({.array = array});
  };
  for (const auto& table : tables) {
    if (table.name == "subnet") add_arrays("");
    found.push_back({.table = &table});
    add_arrays(table.name);
  }
  return found;
}

bool Schema::has_table(std::string_view table) const {
  return std::ranges::find(tables, table, &TableDoc::name) != tables.end();
}

bool Schema::of_process(std::string_view table) const {
  const auto at = std::ranges::find(tables, table, &TableDoc::name);
  return at != tables.end() && at->of_process;
}

std::optional<Renamed> renamed(std::string_view table, std::string_view before) {
  static constexpr std::array kRenamed{
      Renamed{.table = "ha", .before = "retries", .now = "losses", .more = 1},
      Renamed{.table = "lids", .before = "import", .now = "import_guid2lid"},
      Renamed{.table = "links", .before = "hoq_life", .now = "hoq_lifetime"},
      Renamed{.table = "links", .before = "leaf_hoq_life", .now = "leaf_hoq_lifetime"},
      Renamed{.table = "links", .before = "phy_errors", .now = "local_phy_errors_threshold"},
      Renamed{.table = "links", .before = "overrun_errors", .now = "overrun_errors_threshold"},
      Renamed{.table = "routing", .before = "tables", .now = "tables_file"},
      Renamed{.table = "multicast", .before = "share_solicited_nodes", .now = "consolidate_ipv6_snm"},
      Renamed{.table = "sa", .before = "silent_grace", .now = "keep_silent"},
  };
  for (const auto& key : kRenamed) {
    if (key.table == table && key.before == before) return key;
  }
  return std::nullopt;
}

Schema make_schema() {
  Schema schema;
  schema.tables = {
      {.name = "log", .doc = "What smd logs, and where. For the whole process.", .of_process = true},
      {.name = "api", .doc = "How a running smd is queried. For the whole process.", .of_process = true},
      {.name = "store",
       .doc = "Where smd keeps state that survives a restart, such as LIDs. For the whole process.",
       .of_process = true},
      {.name = "sm", .doc = "Election and authentication of subnet managers."},
      {.name = "keys", .doc = "Files that hold secrets."},
      {.name = "mad", .doc = "How requests are sent to nodes."},
      {.name = "sweep", .doc = "When the fabric is read."},
      {.name = "adopt", .doc = "How smd takes over a fabric that is up."},
      {.name = "ha", .doc = "Master and standby."},
      {.name = "lids", .doc = "Which LIDs ports get."},
      {.name = "links", .doc = "What is written to the ports of a link."},
      {.name = "routing", .doc = "How paths are computed."},
      {.name = "multicast", .doc = "Multicast groups."},
      {.name = "partitions", .doc = "Where partitions come from, and where they are enforced."},
      {.name = "qos",
       .doc = "Quality of service: which paths get which SL, which virtual lanes SLs use, and what share "
              "those have."},
      {.name = "sa", .doc = "What clients may ask and register."},
      {.name = "status", .doc = "When the fabric counts as reduced."},
      {.name = "names", .doc = "What nodes are called."},
      {.name = "subnet",
       .doc = "One block for each subnet that this process manages; without one there is a single subnet, on "
              "the first "
              "usable port. Any table but [log], [api] and [store] may be repeated inside, as "
              "[subnet.routing], to "
              "override it "
              "for this "
              "subnet."},
  };
  for (const auto make : kRowLists) {
    for (auto& key : make()) schema.keys.push_back(std::move(key));
  }
  return schema;
}

const Schema& product_schema() {
  static const Schema schema = make_schema();
  return schema;
}

}  // namespace smd::config
