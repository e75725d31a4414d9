// SPDX-License-Identifier: Apache-2.0
#include "config/import/conf_members.h"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "config/import/c_number.h"
#include "config/suggest.h"
#include "config/toml_reader.h"
#include "mad/base/parse.h"

namespace smd::config {
namespace {

constexpr std::string_view kMemberForm =
    "a port GUID such as 0x0002c90300001234, ALL, ALL_CAS, ALL_SWITCHES, ALL_ROUTERS or SELF";

struct MemberKeyword {
  std::string_view word;
  PortTermKind kind;
};
/// In OpenSM's order: "AL" is ALL, "ALL_" is ALL_CAS.
constexpr std::array kMemberKeywords{
    MemberKeyword{"ALL", PortTermKind::all}, MemberKeyword{"ALL_CAS", PortTermKind::cas},
    MemberKeyword{"ALL_SWITCHES", PortTermKind::switches},
    MemberKeyword{"ALL_ROUTERS", PortTermKind::routers}, MemberKeyword{"SELF", PortTermKind::self}};

/// "0x10-0x1f", of two numbers as opensm reads them.
std::optional<PortTerm> read_range(std::string_view text) {
  const auto dash = text.find('-', 1);
  if (dash == std::string_view::npos) return std::nullopt;
  const auto first = read_c_number(base::trim(text.substr(0, dash)));
  const auto last = read_c_number(base::trim(text.substr(dash + 1)));
  const bool whole =
      first.digits && last.digits && first.rest.empty() && last.rest.empty() && first.exact && last.exact;
  if (!whole || first.value == 0 || last.value < first.value) return std::nullopt;
  return PortTerm{.kind = PortTermKind::guid_range, .first = Guid{first.value}, .last = Guid{last.value}};
}

/// "h00001 HCA-1/P1": what is before the last '/' is the node's description.
std::optional<PortTerm> read_port_name(std::string_view text) {
  const auto slash = text.rfind('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 2 >= text.size()) return std::nullopt;
  if (text[slash + 1] != 'P' && text[slash + 1] != 'p') return std::nullopt;
  const auto port = base::parse_port(text.substr(slash + 2));
  if (!port || port->value() == 0 || *port == kNoPort) return std::nullopt;
  return PortTerm{
      .kind = PortTermKind::node_port, .name = std::string(text.substr(0, slash)), .number = port->value()};
}

std::optional<PortTerm> read_ports(std::string_view name, ConfNotes& notes) {
  for (const auto& keyword : kMemberKeywords) {
    if (is_prefix_of(name, keyword.word)) return PortTerm{.kind = keyword.kind};
  }
  const auto number = read_c_number(name);
  if (number.digits && number.rest.empty() && number.value != 0 && number.exact)
    return PortTerm{.kind = PortTermKind::guid, .first = Guid{number.value}};
  if (name == "ALL_SWITCH_TO_SWITCH") {
    notes.warn("member", "ALL_SWITCH_TO_SWITCH means ports between switches, where P_Keys are not enforced");
    return PortTerm{.kind = PortTermKind::switch_links};
  }
  if (auto range = read_range(name)) return range;
  return read_port_name(name);
}

/// What the mistake looks like.
std::string member_hint(const ConfToken& token) {
  if (token.name == "defmember" || token.name == "ipoib" || token.name == "indx0")
    return "flags stand before the ':'";
  if (token.value && token.value->contains(':')) return "is the ';' of the definition before it missing?";
  if (token.name.find_first_of(" \t") != std::string_view::npos) return "members are separated by commas";
  std::vector<std::string> words{"NONE", "mgid", "ALL_SWITCH_TO_SWITCH"};
  for (const auto& keyword : kMemberKeywords) words.emplace_back(keyword.word);
  return did_you_mean(token.name, words);
}

Membership read_own_membership(std::string_view text, ConfNotes& notes) {
  const auto membership = read_membership(text);
  if (membership) {
    if (text.empty()) notes.warn("member", "an empty membership is full, as opensm has it");
    return *membership;
  }
  const std::vector<std::string> words{"full", "limited", "both"};
  notes.warn("member", fmt::format("membership \"{}\" is read as limited, as opensm does", printable(text)),
             did_you_mean(text, words));
  return Membership::limited;
}

}  // namespace

std::optional<Membership> read_membership(std::string_view text) {
  for (const auto membership : {Membership::full, Membership::both, Membership::limited}) {
    if (is_prefix_of(text, to_string(membership))) return membership;
  }
  return std::nullopt;
}

std::optional<MemberRule> read_conf_member(const ConfToken& token, Membership standard, ConfNotes& notes) {
  if (is_prefix_of(token.name, "NONE")) return std::nullopt;
  const auto membership = token.value ? read_own_membership(*token.value, notes) : standard;
  auto term = read_ports(token.name, notes);
  if (!term) {
    notes.wrong("member", token.name, std::string(kMemberForm), member_hint(token));
    return std::nullopt;
  }
  return MemberRule{.ports = {{*std::move(term)}},
                    .membership = membership,
                    .source = {.origin = PolicyOrigin::file, .line = notes.line()}};
}

}  // namespace smd::config
