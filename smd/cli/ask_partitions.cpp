// SPDX-License-Identifier: Apache-2.0
// `smd partitions` for people.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <ostream>

#include "smd/cli/ask_text.h"
#include "smd/cli/words.h"

namespace smd::cli {

namespace json = boost::json;

namespace {

std::uint64_t number_in(const json::value& from, std::string_view key) {
  const auto& found = member_of(from, key);
  return found.is_number() ? found.to_number<std::uint64_t>() : 0;
}

void print_partition(std::ostream& out, const std::string& prefix, const json::value& partition) {
  const auto& pending = list_of(partition, "pending");
  const bool decided = text_of(partition, "in_force") != "false";
  const auto why = text_of(partition, "not_in_force");
  const auto waits = why.empty() ? "a change is not decided yet: smd partitions wait" : why;
  out << fmt::format("{}{} {}: {} ({}){}\n", prefix, text_of(partition, "pkey"), text_of(partition, "name"),
                     members_by_state(partition), joined_texts(list_of(partition, "sources")),
                     decided ? "" : "; " + waits);
  if (const auto asked = text_of(partition, "sl_asked"); !asked.empty())
    out << fmt::format("  SL {} is in force, SL {} is asked for\n", text_of(partition, "sl"), asked);
  for (const auto& group : list_of(partition, "groups_waiting"))
    out << fmt::format("  group {} keeps its values until its last member leaves ({}): {}\n",
                       text_of(group, "mgid"), counted(text_of(group, "members"), "member"),
                       text_of(group, "change"));
  const auto* members = member_of(partition, "members").if_array();
  if (members == nullptr) return;
  if (const auto groups = joined_texts(list_of(partition, "groups")); !groups.empty())
    out << fmt::format("  groups {}\n", groups);
  for (const auto& rule : list_of(partition, "rules")) {
    // Those of a port GUID are what the members' lines say.
    if (const auto ports = text_of(rule, "ports"); !ports.starts_with("0x"))
      out << fmt::format("  {}: {}{} ({})\n", ports, text_of(rule, "membership"),
                         text_of(rule, "index0") == "true" ? ", index 0" : "", text_of(rule, "source"));
  }
  for (const auto& member : *members) {
    const auto index = text_of(member, "index");
    out << fmt::format("  {} \"{}\" port {}: {}{}, {}\n", text_of(member, "port_guid"),
                       text_of(member, "name"), text_of(member, "port"), text_of(member, "membership"),
                       index.empty() ? "" : ", index " + index, text_of(member, "state"));
  }
  for (const auto& one : pending) {
    out << fmt::format("  {}: {}, pending: {} ({})\n", text_of(one, "member"), text_of(one, "membership"),
                       text_of(one, "reason"), text_of(one, "source"));
  }
}

}  // namespace

std::string members_by_state(const json::value& partition) {
  const auto all = number_in(partition, "member_count"), ready = number_in(partition, "programmed");
  const auto refused = number_in(partition, "refused"), no_room = number_in(partition, "no_room");
  auto text =
      fmt::format("{} of {} programmed", ready, counted(text_of(partition, "member_count"), "member"));
  if (all > ready + refused + no_room) text += fmt::format(", {} pending", all - ready - refused - no_room);
  if (refused != 0) text += fmt::format(", {} refused", refused);
  if (no_room != 0) text += fmt::format(", {} no_room", no_room);
  if (const auto absent = list_of(partition, "pending").size(); absent != 0)
    text += fmt::format("; {} {}", absent,
                        text_of(partition, "in_force") == "false" ? "pending" : "not in the fabric");
  return text;
}

void print_partitions(std::ostream& out, const json::value& answer, bool with_subnet) {
  const auto prefix = with_subnet ? text_of(answer, "subnet") + " " : std::string{};
  const auto* managed = member_of(answer, "managed").if_bool();
  if (managed != nullptr && !*managed)
    out << prefix << "no partition is configured: P_Key tables stay as they are\n";
  for (const auto& partition : list_of(answer, "partitions")) print_partition(out, prefix, partition);
}

}  // namespace smd::cli
