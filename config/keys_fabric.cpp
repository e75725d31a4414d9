// SPDX-License-Identifier: Apache-2.0
// The keys of [links] and [routing].
#include "config/file_key.h"
#include "config/guid_list.h"
#include "config/rows.h"
#include "config/scalars.h"
#include "mad/base/torus_conf.h"

namespace smd::config {
namespace {

constexpr std::string_view kBothEnds = "what both ends of a link can";
constexpr std::string_view kAsEnabled = "what both ends have enabled";
constexpr auto kLinks = &SubnetConfig::links;

Codec<Mtu> mtu() {
  return explained(one_of<Mtu>({{"auto", Mtu::none},
                                {"256", Mtu::m256},
                                {"512", Mtu::m512},
                                {"1024", Mtu::m1024},
                                {"2048", Mtu::m2048},
                                {"4096", Mtu::m4096}}),
                   Mtu::none, kBothEnds);
}

Codec<std::uint8_t> vls() {
  using Code = std::uint8_t;
  return explained(one_of<Code>({{"auto", 0}, {"1", 1}, {"2", 2}, {"4", 4}, {"8", 8}, {"15", 15}}), Code{0},
                   kBothEnds);
}

Codec<LinkSpeed> speed() {
  std::vector<std::pair<std::string, LinkSpeed>> choices{{"auto", LinkSpeed::unknown}};
  for (auto code = static_cast<unsigned>(LinkSpeed::sdr); code <= static_cast<unsigned>(LinkSpeed::xdr);
       ++code) {
    const auto value = static_cast<LinkSpeed>(code);
    choices.emplace_back(to_string(value), value);
  }
  return explained(one_of<LinkSpeed>(choices), LinkSpeed::unknown, kAsEnabled);
}

Codec<LinkWidth> width() {
  std::vector<std::pair<std::string, LinkWidth>> choices{{"auto", LinkWidth::unknown}};
  for (const auto value : {LinkWidth::x1, LinkWidth::x2, LinkWidth::x4, LinkWidth::x8, LinkWidth::x12}) {
    choices.emplace_back(to_string(value), value);
  }
  return explained(one_of<LinkWidth>(choices), LinkWidth::unknown, kAsEnabled);
}

Key link_code(std::string_view name, std::string_view opensm, std::uint8_t LinksConfig::* member,
              Codec<std::uint8_t> codec, std::string_view doc) {
  return row({.table = "links", .name = name, .opensm = opensm, .doc = doc}, kLinks, member,
             std::move(codec));
}

std::vector<Key> link_limits() {
  return {
      row({.table = "links",
           .name = "mtu",
           .opensm = "",
           .doc = "The largest MTU of a link, in bytes. Links in operation keep a smaller one that "
                  "both ends have, unless this names a larger one: then they are trained again, in steps."},
          kLinks, &LinksConfig::mtu, mtu()),
      row({.table = "links",
           .name = "operational_vls",
           .opensm = "max_op_vls",
           .doc =
               "Data VLs of a link, at most. With \"auto\" links in operation keep the number that both ends "
               "have; a number retrains links with another one, in steps. OpenSM's max_op_vls "
               "is a code: 1 to 5 stand for 1, 2, 4, 8, 15."},
          kLinks, &LinksConfig::operational_vls, vls()),
      row({.table = "links",
           .name = "speed",
           .opensm = "force_link_speed_ext",
           .doc =
               "The fastest speed that links may come up with. \"auto\" leaves what ports have enabled as it "
               "is: an earlier limit is lifted by naming the fastest speed, such as \"XDR\". Links that are "
               "faster are taken down in steps (docs/operations.md)."},
          kLinks, &LinksConfig::speed, speed()),
      row({.table = "links",
           .name = "width",
           .opensm = "force_link_width",
           .doc =
               "The widest width that links may come up with. \"auto\" leaves what ports have enabled as it "
               "is: an earlier limit is lifted by naming the widest width, \"12x\". Links that are wider "
               "are "
               "taken down in steps (docs/operations.md)."},
          kLinks, &LinksConfig::width, width()),
  };
}

/// A list of GUIDs and the file that it came from, if it did.
struct GuidsKey {
  std::string_view name, opensm, doc;
  std::vector<Guid> RoutingConfig::* guids;
  std::string RoutingConfig::* file;
  std::string_view none;  ///< what an empty list means
};

/// A list, or the name of a file that holds one.
void read_guids(const GuidsKey& key, const Value& value, const Spot& spot, Settings& into) {
  auto& routing = into.subnet.routing;
  if (value.kind == Value::Kind::text) {
    std::vector<Guid> found;
    if (!value.text.empty()) {
      const auto bytes = spot.contents(value);
      if (!bytes) return;
      auto read = read_guid_list(*bytes, spot.resolve(value.text).string());
      if (!read) {
        spot.errors.insert(spot.errors.end(), read.error().begin(), read.error().end());
        return;
      }
      if (read->empty()) return spot.wrong(value, "a file with at least one GUID");
      found = *std::move(read);
    }
    routing.*key.guids = std::move(found);
    routing.*key.file = value.text.empty() ? "" : spot.resolve(value.text).string();
  } else if (value.kind == Value::Kind::list) {
    auto found = guids().read(value, spot);
    if (!found) return;
    routing.*key.guids = *std::move(found);
    (routing.*key.file).clear();
  } else {
    spot.wrong(value, "a list of GUIDs, or the name of a file with one a line");
  }
}

Key guids_key(GuidsKey what) {
  Key key{.table = "routing", .name = what.name, .opensm = what.opensm, .doc = what.doc};
  key.form = Form::guids_or_text;
  key.allowed = "a list of GUIDs, or a file's name";
  key.read = [what](const Value& value, const Spot& spot, Settings& into) {
    read_guids(what, value, spot, into);
  };
  key.show = [what](const Settings& from) {
    const auto& routing = from.subnet.routing;
    return (routing.*what.file).empty() ? show_guids(routing.*what.guids) : toml_quoted(routing.*what.file);
  };
  key.explain = [what](const Settings& from) -> std::string {
    const auto& routing = from.subnet.routing;
    if ((routing.*what.guids).empty()) return std::string(what.none);
    return (routing.*what.file).empty() ? "" : fmt::format("{} GUIDs", (routing.*what.guids).size());
  };
  return key;
}

/// `tables_file` names a file that the program reads when it has the whole configuration.
Key tables() {
  Key key{
      .table = "routing",
      .name = "tables_file",
      .opensm = "lfts_file",
      .doc = "The file that the engine `file` takes its tables from: an opensm-lfts.dump or an opensm.fdbs."};
  key.form = Form::text;
  key.allowed = "a file's name";
  key.read = [](const Value& value, const Spot& spot, Settings& into) {
    if (value.kind != Value::Kind::text) return spot.wrong(value, "the name of a file");
    into.subnet.routing.tables_file = value.text.empty() ? "" : spot.resolve(value.text).string();
  };
  key.show = [](const Settings& from) { return toml_quoted(from.subnet.routing.tables_file); };
  key.explain = [](const Settings&) { return std::string(); };
  return key;
}

Key torus_file() {
  return file_key(
      {.table = "routing",
       .name = "torus_file",
       .opensm = "torus_config",
       .doc = "OpenSM's torus-2QoS.conf, for the engine `torus-2QoS`: the sizes of the torus or mesh, its "
              "datelines, and the order of ports. Empty: smd finds the torus from the cabling."},
      FileMembers{&SubnetConfig::routing, &RoutingConfig::torus_file, &RoutingConfig::torus},
      base::read_torus_conf,
      [](const RoutingConfig& routing) { return std::string(routing.torus ? "" : "found by smd"); });
}

Key engines() {
  constexpr auto kRouting = &SubnetConfig::routing;
  return row(
      {.table = "routing",
       .name = "engines",
       .opensm = "routing_engine",
       .doc = "\"auto\": smd recognises what the fabric is (tree, mesh, torus, hypercube, HyperX, "
              "dragonfly, "
              "irregular), computes the routes of the engines for it, and uses those that pass "
              "verification and have the lowest load; `smd status` and the log say which and why. Or "
              "names of engines, tried in this order: the first whose routes pass verification is used."},
      kRouting, &RoutingConfig::engines, names("routing engines", &ConfigContext::engines, 1));
}

}  // namespace

std::vector<Key> links_keys() {
  constexpr std::uint8_t kLongestLife = 19;  // codes above mean 'never discarded'
  auto keys = link_limits();
  const std::vector<Key> more{
      link_code("packet_lifetime", "packet_life_time", &LinksConfig::packet_lifetime, time_code(kLongestLife),
                "How long a packet may stay in a switch, 4.096 us * 2^value; above 19: for ever."),
      link_code("hoq_lifetime", "head_of_queue_lifetime", &LinksConfig::hoq_lifetime, time_code(kLongestLife),
                "How long a packet may wait at the head of a queue towards a switch, 4.096 us * 2^value; "
                "above 19: for "
                "ever."),
      link_code("leaf_hoq_lifetime", "leaf_head_of_queue_lifetime", &LinksConfig::leaf_hoq_lifetime,
                time_code(kLongestLife), "The same towards a CA or router."),
      link_code("vl_stall_count", "vl_stall_count", &LinksConfig::vl_stall_count, whole<std::uint8_t>(1, 7),
                "Packets discarded in a row until a VL towards a switch counts as stalled."),
      link_code("leaf_vl_stall_count", "leaf_vl_stall_count", &LinksConfig::leaf_vl_stall_count,
                whole<std::uint8_t>(1, 7), "The same towards a CA or router."),
      link_code(
          "subnet_timeout", "subnet_timeout", &LinksConfig::subnet_timeout, time_code(31),
          "SubnetTimeOut of PortInfo, the longest time that a packet may take through the subnet, 4.096 us * "
          "2^value: clients compute their SA time-outs from it."),
      link_code("local_phy_errors_threshold", "local_phy_errors_threshold",
                &LinksConfig::local_phy_errors_threshold, whole<std::uint8_t>(0, 15),
                "Link errors until a port sends trap 129."),
      link_code("overrun_errors_threshold", "overrun_errors_threshold",
                &LinksConfig::overrun_errors_threshold, whole<std::uint8_t>(0, 15),
                "Buffer overruns until a port sends trap 130."),
  };
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

std::vector<Key> routing_keys() {
  constexpr auto kRouting = &SubnetConfig::routing;
  return {
      engines(),
      guids_key({"root_guids", "root_guid_file",
                 "The top switches of the tree, by node GUID: a list, or the name of a file with one a line. "
                 "Empty: smd finds them.",
                 &RoutingConfig::root_guids, &RoutingConfig::root_guids_file, "found by smd"}),
      guids_key(
          {"compute_nodes", "cn_guid_file",
           "CAs that compute, by node or port GUID: a list, or the name of a file with one a line. If it is "
           "not empty all others count as I/O nodes. Each kind is spread evenly by itself.",
           &RoutingConfig::compute_nodes, &RoutingConfig::compute_nodes_file, "all"}),
      guids_key(
          {"io_nodes", "io_guid_file",
           "CAs that are for storage and services, by node or port GUID: a list, or the name of a file with "
           "one a line.",
           &RoutingConfig::io_nodes, &RoutingConfig::io_nodes_file, "none"}),
      tables(),
      torus_file(),
      row({.table = "routing",
           .name = "allow_credit_loops",
           .opensm = "",
           .doc = "Install routes in which packets can wait for one another for ever. Without it such routes "
                  "are refused."},
          kRouting, &RoutingConfig::allow_credit_loops,
          flag("routes that can deadlock are installed", "routes that can deadlock are refused")),
      row({.table = "routing",
           .name = "path_sl",
           .opensm = "",
           .doc =
               "What clients do with the SL of a path. \"fixed\": some do not ask for it, so routes are free "
               "of credit loops whatever SL they use. \"asked\": all ask subnet administration, so that "
               "engines with several layers (dfsssp, lash, torus-2QoS) may be used."},
          kRouting, &RoutingConfig::path_sl,
          one_of<PathSl>({{"fixed", PathSl::fixed}, {"asked", PathSl::asked}})),
      row({.table = "routing",
           .name = "sl_keep",
           .opensm = "",
           .doc =
               "A path that a repair has moved to another SL comes back to its first one, which connections "
               "may still use, until all hosts at one of its ends have been away for so long."},
          kRouting, &RoutingConfig::sl_keep,
          duration(std::chrono::seconds(1), std::chrono::hours(24 * 365), "paths always come back")),
      row({.table = "routing",
           .name = "converge_after",
           .opensm = "",
           .doc = "Quiet time after a repair until the repaired tables are replaced, in small steps, by "
                  "recomputed "
                  "ones."},
          kRouting, &RoutingConfig::converge_after,
          duration(std::chrono::seconds(1), std::chrono::hours(24), "repaired tables stay")),
      row({.table = "routing", .name = "threads", .opensm = "", .doc = "Threads that compute routes."},
          kRouting, &RoutingConfig::threads,
          explained(whole<std::uint32_t>(0, 4096), std::uint32_t{0}, "as many as the machine has")),
  };
}

}  // namespace smd::config
