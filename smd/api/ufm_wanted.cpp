// SPDX-License-Identifier: Apache-2.0
#include "smd/api/ufm_wanted.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <cmath>
#include <utility>

#include "config/glob.h"
#include "mad/base/parse.h"
#include "mad/base/rate.h"
#include "smd/api/json_in.h"
#include "smd/api/ufm.h"

namespace smd::api {
namespace {

namespace json = boost::json;
using config::MemberRule;
using config::MemberRules;

std::unexpected<Answer> bad_request(std::string_view message) { return std::unexpected(bad_body(message)); }

/// A body may be long: as much of it as a line has.
std::unexpected<Answer> ufm_wrong(std::string_view key, const json::value& found, std::string_view allowed) {
  constexpr std::size_t kMostShown = 100;
  auto shown = json::serialize(found);
  if (shown.size() > kMostShown) shown.replace(kMostShown, std::string::npos, "...");
  return bad_request(fmt::format("{}: found {}, allowed {}", key, shown, allowed));
}

std::optional<config::Membership> ufm_membership(const json::value& value) {
  const auto* word = value.if_string();
  if (word != nullptr && *word == "full") return config::Membership::full;
  if (word != nullptr && *word == "limited") return config::Membership::limited;
  return std::nullopt;
}

MemberRule ufm_rule(config::PortTerm term, config::Membership membership, bool index0) {
  MemberRule rule{.membership = membership, .index0 = index0};
  rule.ports.terms.push_back(std::move(term));
  rule.source.origin = config::PolicyOrigin::api;
  return rule;
}

std::expected<void, Answer> ufm_read_guids(const json::object& body, UfmWanted& into) {
  const auto* guids = body.if_contains("guids");
  if (guids == nullptr) return {};
  if (!guids->is_array()) return ufm_wrong("guids", *guids, "a list of GUIDs");
  auto membership = config::Membership::full;
  if (const auto* word = body.if_contains("membership")) {
    const auto found = ufm_membership(*word);
    if (!found) return ufm_wrong("membership", *word, "\"full\" or \"limited\"");
    membership = *found;
  }
  const auto* each = body.if_contains("memberships");
  const auto& list = guids->get_array();
  if (each != nullptr && (!each->is_array() || each->get_array().size() != list.size()))
    return bad_request("memberships: must have as many entries as guids");
  const auto* index0 = body.if_contains("index0");
  if (index0 != nullptr && !index0->is_bool()) return ufm_wrong("index0", *index0, "true or false");
  auto& members = into.members.emplace();
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto guid = list[i].is_string() ? ufm_guid(std::string_view(list[i].get_string())) : std::nullopt;
    if (!guid) return ufm_wrong("guids", list[i], "GUIDs: 16 digits, 20 with zeros in front");
    const auto own = each != nullptr ? ufm_membership(each->get_array()[i]) : std::optional(membership);
    if (!own) return ufm_wrong("memberships", each->get_array()[i], "\"full\" or \"limited\"");
    members.push_back(ufm_rule({.kind = config::PortTermKind::guid, .first = *guid}, *own,
                               index0 != nullptr && index0->get_bool()));
  }
  return {};
}

/// MTU in KB (2 or 4), rate in Gb/s as IBA has them.
std::expected<void, Answer> ufm_read_qos(const json::object& body, UfmWanted& into) {
  if (const auto* mtu = body.if_contains("mtu_limit")) {
    if (*mtu != 2 && *mtu != 4) return ufm_wrong("mtu_limit", *mtu, "2 or 4 (KB)");
    into.mtu = *mtu == 2 ? Mtu::m2048 : Mtu::m4096;
  }
  if (const auto* sl = body.if_contains("service_level")) {
    const auto number = sl->is_int64() ? sl->get_int64() : -1;
    if (number < 0 || number > 15) return ufm_wrong("service_level", *sl, "0 to 15");
    into.sl = Sl{static_cast<std::uint8_t>(number)};
  }
  if (const auto* rate = body.if_contains("rate_limit")) {
    const double gbps = rate->is_number() ? rate->to_number<double>() : 0;
    for (const auto& known : kStaticRates) {
      if (known.mbps == std::llround(gbps * 1000)) into.rate = known.code;
    }
    if (!into.rate)
      return ufm_wrong("rate_limit", *rate, "rates of InfiniBand in Gb/s, as 2.5, 10, 56, 100, 200");
  }
  return {};
}

std::expected<json::object, Answer> ufm_body(std::string_view body) {
  auto value = parse_body(body);
  if (!value) return bad_request(value.error());
  if (!value->is_object()) return bad_request("the body must be an object");
  return std::move(value->get_object());
}

std::expected<UfmWanted, Answer> wanted_of(const json::object& body) {
  const auto* key = body.if_contains("pkey");
  if (key == nullptr || !key->is_string()) return bad_request("pkey: must be a text");
  const auto pkey = ufm_pkey(std::string_view(key->get_string()));
  if (!pkey) return std::unexpected(pkey.error());
  UfmWanted wanted{.pkey = *pkey};
  if (const auto* name = body.if_contains("partition_name")) {
    if (!name->is_string()) return bad_request("partition_name: must be a text");
    wanted.name = std::string_view(name->get_string());
  }
  if (const auto* ipoib = body.if_contains("ip_over_ib")) {
    if (!ipoib->is_bool()) return ufm_wrong("ip_over_ib", *ipoib, "true or false");
    wanted.ipoib = ipoib->get_bool();
  }
  if (auto good = ufm_read_guids(body, wanted); !good) return std::unexpected(good.error());
  if (auto good = ufm_read_qos(body, wanted); !good) return std::unexpected(good.error());
  return wanted;
}

/// The items of a list, or of a text with commas between them; those that are no texts are empty.
std::vector<std::string> names_in(const json::value* hosts) {
  std::vector<std::string> names;
  if (hosts != nullptr && hosts->is_string()) names = ufm_list(std::string_view(hosts->get_string()));
  if (hosts != nullptr && hosts->is_array()) {
    for (const auto& one : hosts->get_array())
      names.emplace_back(one.is_string() ? base::trim(std::string_view(one.get_string()))
                                         : std::string_view());
  }
  return names;
}

/// The name of a single node, which is nothing else where members of partitions are written.
bool is_plain_name(const std::string& word) {
  const auto term = config::parse_port_term(word);
  return term && term->kind == config::PortTermKind::node && term->name == word && !config::is_glob(word);
}

std::expected<MemberRules, Answer> ufm_hosts(const json::object& body) {
  auto names = names_in(body.if_contains("hosts_names"));
  if (names.empty()) return bad_request("hosts_names: must be names of nodes");
  const auto* word = body.if_contains("membership");
  const auto membership = word != nullptr ? ufm_membership(*word) : config::Membership::full;
  if (!membership) return ufm_wrong("membership", *word, "\"full\" or \"limited\"");
  const auto* index0 = body.if_contains("index0");
  MemberRules members;
  for (auto& name : names) {
    if (!is_plain_name(name))
      return bad_request(
          fmt::format("hosts_names: {} is not the name of one node", json::serialize(json::value(name))));
    members.push_back(ufm_rule({.kind = config::PortTermKind::node, .name = std::move(name)}, *membership,
                               index0 != nullptr && index0->is_bool() && index0->get_bool()));
  }
  return members;
}

}  // namespace

std::optional<Guid> ufm_guid(std::string_view text) {
  constexpr std::size_t kDigits = 16, kMostDigits = 20;
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  if (text.size() > kMostDigits) return std::nullopt;
  while (text.size() > kDigits && text.front() == '0') text.remove_prefix(1);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (text.empty() || text.size() > kDigits || error != std::errc{} || end != text.data() + text.size() ||
      value == 0)
    return std::nullopt;
  return Guid{value};
}

std::vector<std::string> ufm_list(std::string_view list) {
  std::vector<std::string> items;
  while (!list.empty()) {
    const auto item = list.substr(0, list.find(','));
    if (const auto text = base::trim(item); !text.empty()) items.emplace_back(text);
    list.remove_prefix(std::min(list.size(), item.size() + 1));
  }
  return items;
}

std::expected<UfmWanted, Answer> ufm_wanted(std::string_view text) {
  const auto body = ufm_body(text);
  if (!body) return std::unexpected(body.error());
  return wanted_of(*body);
}

std::expected<UfmWanted, Answer> ufm_wanted_hosts(std::string_view text) {
  const auto body = ufm_body(text);
  if (!body) return std::unexpected(body.error());
  auto wanted = wanted_of(*body);
  if (!wanted) return wanted;
  auto members = ufm_hosts(*body);
  if (!members) return std::unexpected(std::move(members.error()));
  wanted->members = *std::move(members);
  return wanted;
}

}  // namespace smd::api
