// SPDX-License-Identifier: Apache-2.0
#include "smd/policy/definition_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "config/suggest.h"
#include "mad/base/gid.h"
#include "mad/base/parse.h"
#include "mad/base/rate.h"

namespace smd::policy {
namespace {

namespace json = boost::json;
using Failed = std::unexpected<std::string>;

constexpr std::size_t kLongestShown = 80;

std::string shown(const json::value& value) {
  auto text = json::serialize(value);
  if (text.size() > kLongestShown) text = text.substr(0, kLongestShown) + "…";
  return text;
}

Failed wrong(std::string_view key, const json::value& found, std::string_view allowed) {
  return Failed(fmt::format("{}: found {}, allowed {}", key, shown(found), allowed));
}

/// The error that names the first key that is not in `known`.
std::expected<void, std::string> check_keys(const json::object& object, std::string_view where,
                                            std::span<const std::string_view> known) {
  for (const auto& [name, value] : object) {
    const std::string_view key = name;
    if (std::ranges::find(known, key) != known.end()) continue;
    const std::vector<std::string> words(known.begin(), known.end());
    auto near = config::did_you_mean(key, words);
    return Failed(fmt::format("{}{}: not known; allowed {}{}{}", where, key, fmt::join(known, ", "),
                              near.empty() ? "" : "; ", near));
  }
  return {};
}

std::optional<std::string> text_of(const json::value& value) {
  return value.is_string() ? std::optional(std::string(std::string_view(value.get_string()))) : std::nullopt;
}

/// A number, or the text of one ("0x0b1b").
std::optional<std::uint64_t> number_of(const json::value& value, std::uint64_t last) {
  if (value.is_int64() || value.is_uint64()) {
    boost::system::error_code error;
    const auto number = value.to_number<std::uint64_t>(error);
    return error || number > last ? std::nullopt : std::optional(number);
  }
  const auto text = text_of(value);
  return text ? base::parse_number(*text, last) : std::nullopt;
}

template <class T>
std::expected<void, std::string> read_number(const json::value& value, std::string_view key,
                                             std::uint64_t last, T& into) {
  const auto number = number_of(value, last);
  if (!number) return wrong(key, value, fmt::format("0 to {}", last));
  into = static_cast<T>(*number);
  return {};
}

std::expected<void, std::string> read_mtu(const json::value& value, std::string_view key, Mtu& into) {
  constexpr std::array kMtus{Mtu::m256, Mtu::m512, Mtu::m1024, Mtu::m2048, Mtu::m4096};
  const auto bytes = number_of(value, 4096);
  for (std::size_t i = 0; bytes && i < kMtus.size(); ++i) {
    if (*bytes != 256U << i) continue;
    into = kMtus[i];
    return {};
  }
  return wrong(key, value, "256, 512, 1024, 2048 or 4096 (bytes)");
}

std::expected<void, std::string> read_rate(const json::value& value, std::string_view key,
                                           std::uint8_t& into) {
  std::optional<double> gbps;
  if (value.is_number()) gbps = value.to_number<double>();
  if (const auto text = text_of(value)) {
    double number = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
    if (error == std::errc{} && end == text->data() + text->size()) gbps = number;
  }
  std::string all;
  for (const auto& rate : kStaticRates) {
    if (gbps && std::fabs(*gbps * 1000 - rate.mbps) < 0.5) {
      into = rate.code;
      return {};
    }
    all += fmt::format("{}{}", all.empty() ? "" : ", ", rate.mbps / 1000.0);
  }
  return wrong(key, value, all + " (Gb/s)");
}

std::expected<void, std::string> read_scopes(const json::value& value, std::string_view key,
                                             std::uint16_t& into) {
  constexpr std::string_view kAllowed = "a list of 1 to 15";
  const auto* list = value.if_array();
  if (list == nullptr || list->empty()) return wrong(key, value, kAllowed);
  unsigned scopes = 0;
  for (const auto& item : *list) {
    const auto scope = number_of(item, 15);
    if (!scope || *scope == 0) return wrong(key, item, kAllowed);
    scopes |= 1U << *scope;
  }
  into = static_cast<std::uint16_t>(scopes);
  return {};
}

std::expected<void, std::string> read_sl(const json::value& value, std::string_view key, Sl& into) {
  const auto number = number_of(value, 15);
  if (!number) return wrong(key, value, "0 to 15");
  into = Sl{static_cast<std::uint8_t>(*number)};
  return {};
}

/// The settings among `object`; keys that are none are left to the caller.
std::expected<void, std::string> read_settings(const json::object& object, std::string_view where,
                                               config::GroupSettings& into) {
  for (const auto& [name, value] : object) {
    const std::string_view key = name;
    const auto full = fmt::format("{}{}", where, key);
    std::expected<void, std::string> done;
    if (key == "mtu") done = read_mtu(value, full, into.mtu);
    if (key == "rate") done = read_rate(value, full, into.rate);
    if (key == "qkey") done = read_number(value, full, 0xffffffff, into.qkey);
    if (key == "tclass") done = read_number(value, full, 0xff, into.tclass);
    if (key == "flow_label") done = read_number(value, full, 0xfffff, into.flow_label);
    if (key == "scopes") done = read_scopes(value, full, into.scopes);
    if (key == "sl") done = read_sl(value, full, into.sl);
    if (!done) return done;
  }
  return {};
}

void add_settings(json::object& object, const config::GroupSettings& settings) {
  if (settings.mtu != Mtu::none) object["mtu"] = 128U << std::to_underlying(settings.mtu);
  if (settings.rate != 0) {
    const auto mbps = rate_mbps(settings.rate);
    if (mbps % 1000 == 0) {
      object["rate"] = mbps / 1000;
    } else {
      object["rate"] = mbps / 1000.0;
    }
  }
  if (settings.qkey != 0) object["qkey"] = fmt::format("0x{:08x}", settings.qkey);
  if (settings.tclass != 0) object["tclass"] = settings.tclass;
  if (settings.flow_label != 0) object["flow_label"] = settings.flow_label;
  if (settings.scopes != 0) {
    json::array scopes;
    for (unsigned scope = 1; scope < 16; ++scope) {
      if ((settings.scopes >> scope & 1U) != 0) scopes.push_back(scope);
    }
    object["scopes"] = std::move(scopes);
  }
}

constexpr std::array<std::string_view, 5> kWaysToName{"guid", "name", "glob", "group", "ports"};

std::string prefixed(std::string_view way, const std::string& text) {
  if (way == "name" || way == "glob") return "node:" + text;
  if (way == "group") return "group:" + text;
  return text;
}

/// The term that `text` is where it stands for `way`.
std::expected<config::PortTerm, std::string> parse_term(std::string_view way, const json::value& value,
                                                        const std::string& key) {
  const auto text = text_of(value);
  if (!text || text->empty()) return wrong(key, value, "a text");
  auto term = config::parse_port_term(prefixed(way, *text));
  if (!term)
    return Failed(fmt::format("{}: found {}, allowed {}{}{}", key, shown(value), term.error().expected,
                              term.error().hint.empty() ? "" : "; ", term.error().hint));
  using Kind = config::PortTermKind;
  const bool pattern = term->name.find_first_of("*?[") != std::string::npos;
  if (way == "guid" && term->kind != Kind::guid)
    return wrong(key, value, "a port GUID as \"0x0002c90300001234\"");
  if (way == "name" && pattern) return wrong(key, value, "the name of one node; a pattern is a \"glob\"");
  if (term->kind == Kind::partition)
    return wrong(key, value, "ports that do not depend on a partition: use a group");
  return *std::move(term);
}

std::expected<void, std::string> read_membership(const json::value& value, const std::string& key,
                                                 config::Membership& into) {
  using enum config::Membership;
  const auto text = text_of(value);
  for (const auto membership : {limited, full, both}) {
    if (text != to_string(membership)) continue;
    into = membership;
    return {};
  }
  return wrong(key, value, "\"limited\", \"full\" or \"both\"");
}

std::expected<config::MemberRule, std::string> member_of(const json::value& value, const std::string& where) {
  config::MemberRule rule;
  rule.source.origin = config::PolicyOrigin::api;
  if (value.is_string()) {
    auto term = parse_term("ports", value, where);
    if (!term) return Failed(std::move(term.error()));
    rule.ports.terms.push_back(*std::move(term));
    return rule;
  }
  const auto* object = value.if_object();
  if (object == nullptr) return wrong(where, value, "a text or an object");
  const auto prefix = where.empty() ? std::string() : where + ".";
  constexpr std::array<std::string_view, 7> kKnown{"guid",  "name",       "glob",  "group",
                                                   "ports", "membership", "index0"};
  if (auto known = check_keys(*object, prefix, kKnown); !known) return Failed(std::move(known.error()));
  for (const auto& [name, item] : *object) {
    const std::string key(name);
    if (key == "membership") {
      if (auto done = read_membership(item, prefix + key, rule.membership); !done)
        return Failed(std::move(done.error()));
    } else if (key == "index0") {
      if (!item.is_bool()) return wrong(prefix + key, item, "true or false");
      rule.index0 = item.get_bool();
    } else {
      auto term = parse_term(key, item, prefix + key);
      if (!term) return Failed(std::move(term.error()));
      rule.ports.terms.push_back(*std::move(term));
    }
  }
  if (rule.ports.terms.size() != 1)
    return wrong(where.empty() ? "member" : where, value,
                 fmt::format("one of {}", fmt::join(kWaysToName, ", ")));
  return rule;
}

std::expected<config::MemberRules, std::string> members_of(const json::value& value) {
  const auto* list = value.if_array();
  if (list == nullptr) return wrong("members", value, "a list");
  config::MemberRules rules;
  rules.reserve(list->size());
  for (std::size_t i = 0; i < list->size(); ++i) {
    auto rule = member_of((*list)[i], fmt::format("members[{}]", i));
    if (!rule) return Failed(std::move(rule.error()));
    rules.push_back(*rule);
  }
  return rules;
}

std::expected<void, std::string> read_pkey(const json::value& value, std::optional<std::uint16_t>& into) {
  const auto text = text_of(value);
  if (text == "auto") return {};
  // "68" is 0x44 to one reader and 0x68 to another one.
  if (text && !text->starts_with("0x") && !text->starts_with("0X"))
    return wrong("pkey", value, "a text that begins with 0x, a decimal number without quotes, or \"auto\"");
  const auto number = number_of(value, 0xffff);
  if (!number || (*number & 0x7fffU) == 0)
    return wrong("pkey", value, "0x0001 to 0x7fff, the same with the bit of full members, or \"auto\"");
  into = static_cast<std::uint16_t>(*number & 0x7fffU);
  return {};
}

std::expected<void, std::string> read_ipoib(const json::value& value, config::PartitionDefinition& into) {
  if (value.is_bool()) {
    into.ipoib = value.get_bool();
    return {};
  }
  const auto* object = value.if_object();
  if (object == nullptr) return wrong("ipoib", value, "true, false or an object");
  constexpr std::array<std::string_view, 7> kKnown{"mtu", "rate",       "qkey",  "tclass",
                                                   "sl",  "flow_label", "scopes"};
  if (auto known = check_keys(*object, "ipoib.", kKnown); !known) return known;
  into.ipoib = true;
  return read_settings(*object, "ipoib.", into.settings);
}

std::expected<config::ExtraGroup, std::string> group_of(const json::value& value, const std::string& where,
                                                        const config::PartitionDefinition& partition) {
  const auto* object = value.if_object();
  if (object == nullptr) return wrong(where, value, "an object with \"mgid\"");
  constexpr std::array<std::string_view, 7> kKnown{"mgid",   "mtu",        "rate",  "qkey",
                                                   "tclass", "flow_label", "scopes"};
  if (auto known = check_keys(*object, where + ".", kKnown); !known) return Failed(std::move(known.error()));
  config::ExtraGroup group{.mgid = {}, .settings = partition.settings, .source = partition.source};
  group.settings.tclass = 0;
  group.settings.flow_label = 0;
  const auto* mgid = object->if_contains("mgid");
  const auto text = mgid != nullptr ? text_of(*mgid) : std::nullopt;
  const auto found = text ? base::parse_mgid(*text) : std::nullopt;
  if (!found)
    return wrong(where + ".mgid", mgid != nullptr ? *mgid : json::value(),
                 "a multicast GID as \"ff12:401b::16\"");
  group.mgid = *found;
  if (auto done = read_settings(*object, where + ".", group.settings); !done)
    return Failed(std::move(done.error()));
  return group;
}

std::expected<void, std::string> read_groups(const json::value& value, config::PartitionDefinition& into) {
  const auto* list = value.if_array();
  if (list == nullptr) return wrong("groups", value, "a list");
  for (std::size_t i = 0; i < list->size(); ++i) {
    auto group = group_of((*list)[i], fmt::format("groups[{}]", i), into);
    if (!group) return Failed(std::move(group.error()));
    into.groups.push_back(*std::move(group));
  }
  return {};
}

}  // namespace

std::expected<config::MemberRule, std::string> parse_member(const json::value& value) {
  return member_of(value, "");
}

std::expected<config::MemberRules, std::string> parse_members(const json::value& body) {
  const auto* object = body.if_object();
  if (object == nullptr) return members_of(body);
  const auto* members = object->if_contains("members");
  if (members == nullptr) {
    auto one = member_of(body, "");
    if (!one) return Failed(std::move(one.error()));
    return config::MemberRules{*one};
  }
  constexpr std::array<std::string_view, 1> kKnown{"members"};
  if (auto known = check_keys(*object, "", kKnown); !known) return Failed(std::move(known.error()));
  return members_of(*members);
}

json::object member_json(const config::MemberRule& member) {
  return {{"ports", to_string(member.ports)},
          {"membership", std::string(to_string(member.membership))},
          {"index0", member.index0}};
}

std::expected<config::PartitionDefinition, std::string> parse_definition(const json::value& body,
                                                                         std::string_view name) {
  const auto* object = body.if_object();
  if (object == nullptr) return wrong("body", body, "an object");
  constexpr std::array<std::string_view, 6> kKnown{"name", "pkey", "sl", "members", "ipoib", "groups"};
  if (auto known = check_keys(*object, "", kKnown); !known) return Failed(std::move(known.error()));
  config::PartitionDefinition definition{.name = std::string(name)};
  definition.source.origin = config::PolicyOrigin::api;
  const auto read = [&](const char* key, auto reader) -> std::expected<void, std::string> {
    const auto* value = object->if_contains(key);
    return value != nullptr ? reader(*value) : std::expected<void, std::string>();
  };
  auto done = read("name", [&](const json::value& value) -> std::expected<void, std::string> {
    if (text_of(value) == name) return {};
    return wrong("name", value, fmt::format("\"{}\", the name of the path", name));
  });
  if (done) done = read("pkey", [&](const json::value& value) { return read_pkey(value, definition.pkey); });
  if (done)
    done = read("sl", [&](const json::value& value) { return read_sl(value, "sl", definition.settings.sl); });
  if (done) done = read("ipoib", [&](const json::value& value) { return read_ipoib(value, definition); });
  if (done) done = read("groups", [&](const json::value& value) { return read_groups(value, definition); });
  if (done) {
    done = read("members", [&](const json::value& value) -> std::expected<void, std::string> {
      auto members = members_of(value);
      if (!members) return Failed(std::move(members.error()));
      definition.members = *std::move(members);
      return {};
    });
  }
  if (!done) return Failed(std::move(done.error()));
  return definition;
}

json::object definition_json(const config::PartitionDefinition& definition) {
  json::object object;
  object["pkey"] = definition.pkey ? fmt::format("0x{:04x}", *definition.pkey) : "auto";
  if (definition.settings.sl != Sl{0}) object["sl"] = definition.settings.sl.value();
  json::object ipoib;
  add_settings(ipoib, definition.settings);
  if (definition.ipoib) object["ipoib"] = std::move(ipoib);
  json::array groups;
  for (const auto& extra : definition.groups) {
    json::object group{{"mgid", to_string(extra.mgid)}};
    add_settings(group, extra.settings);
    // Without one it is the partition's that is read.
    if (extra.settings.qkey == 0 && definition.settings.qkey != 0) group["qkey"] = 0;
    groups.push_back(std::move(group));
  }
  if (!groups.empty()) object["groups"] = std::move(groups);
  json::array members;
  for (const auto& member : definition.members) members.push_back(member_json(member));
  object["members"] = std::move(members);
  return object;
}

}  // namespace smd::policy
