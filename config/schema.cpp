// SPDX-License-Identifier: Apache-2.0
#include "config/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "config/rows.h"

namespace smd::config {

std::string Key::path() const { return fmt::format("{}.{}", table, name); }

std::string heading(std::string_view table) {
  return table == "subnet" ? "[[subnet]]" : fmt::format("[{}]", table);
}

const Key* Schema::find(std::string_view table, std::string_view name) const {
  const auto at =
      std::ranges::find_if(keys, [&](const Key& key) { return key.table == table && key.name == name; });
  return at == keys.end() ? nullptr : &*at;
}

std::vector<const Key*> Schema::keys_of(std::string_view table) const {
  std::vector<const Key*> found;
  for (const auto& key : keys) {
    if (key.table == table) found.push_back(&key);
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
      {.name = "log",
       .doc = "What is written about smd's work, and where. For the whole process.",
       .of_process = true},
      {.name = "api", .doc = "How a running smd is asked. For the whole process.", .of_process = true},
      {.name = "store",
       .doc = "Where smd keeps what has to survive a restart: LIDs above all. For the whole process.",
       .of_process = true},
      {.name = "sm", .doc = "The subnet manager among others of its kind."},
      {.name = "keys", .doc = "Files that hold secrets."},
      {.name = "mad", .doc = "How nodes are asked."},
      {.name = "sweep", .doc = "When the fabric is looked at."},
      {.name = "adopt", .doc = "What becomes of a fabric that is up when smd becomes its master."},
      {.name = "ha", .doc = "Master and standby."},
      {.name = "lids", .doc = "Which addresses ports get."},
      {.name = "links", .doc = "What is written to the ports of a link."},
      {.name = "routing", .doc = "How paths are computed."},
      {.name = "multicast", .doc = "Multicast groups."},
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
  for (auto make :
       {log_keys, api_keys, store_keys, sm_keys, secret_keys, mad_keys, sweep_keys, adopt_keys, ha_keys,
        lids_keys, links_keys, routing_keys, multicast_keys, sa_keys, status_keys, names_keys, subnet_keys}) {
    for (auto& key : make()) schema.keys.push_back(std::move(key));
  }
  return schema;
}

}  // namespace smd::config
