// SPDX-License-Identifier: Apache-2.0
// Port sets from text and as text, and what groups refer to.
#include "config/port_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "config/glob.h"
#include "config/scalars.h"
#include "config/suggest.h"
#include "config/toml_reader.h"

namespace smd::config {
namespace {

constexpr std::string_view kTermForm =
    "a port GUID (0x0002c90300001234), a range of them (0x10-0x1f), the name of a node or a pattern "
    "(\"h0*\"), "
    "NODE:PORT, group:NAME, partition:NAME, level:N, rail:N, ALL, ALL_CAS, ALL_SWITCHES, ALL_ROUTERS, "
    "ALL_SWITCH_TO_SWITCH or SELF";
constexpr std::string_view kNodePrefix = "node:";

struct PortKeyword {
  std::string_view word;
  PortTermKind kind;
};
constexpr std::array kPortKeywords{PortKeyword{"ALL", PortTermKind::all},
                                   PortKeyword{"ALL_CAS", PortTermKind::cas},
                                   PortKeyword{"ALL_SWITCHES", PortTermKind::switches},
                                   PortKeyword{"ALL_ROUTERS", PortTermKind::routers},
                                   PortKeyword{"ALL_SWITCH_TO_SWITCH", PortTermKind::switch_links},
                                   PortKeyword{"SELF", PortTermKind::self}};
constexpr std::array kPortPrefixes{
    PortKeyword{"group", PortTermKind::group}, PortKeyword{"partition", PortTermKind::partition},
    PortKeyword{"level", PortTermKind::level}, PortKeyword{"rail", PortTermKind::rail},
    PortKeyword{"node", PortTermKind::node}};

using TermResult = std::expected<PortTerm, PortTermError>;

TermResult wrong_term(std::string_view expected, std::string hint = {}) {
  return std::unexpected(PortTermError{.expected = std::string(expected), .hint = std::move(hint)});
}

template <class Words>
std::vector<std::string> words_of(const Words& keywords) {
  std::vector<std::string> words;
  for (const auto& keyword : keywords) words.emplace_back(keyword.word);
  return words;
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// 0 to 254.
std::optional<unsigned> port_of(std::string_view digits) {
  constexpr std::uint64_t kLastPort = 254;
  const auto port = all_digits(digits) ? parse_number(digits) : std::nullopt;
  return port && *port <= kLastPort ? std::optional(static_cast<unsigned>(*port)) : std::nullopt;
}

/// A node's name, or NODE:PORT. Names may hold colons: only digits behind the last one are a port.
TermResult parse_node(std::string_view text) {
  if (text.empty()) return wrong_term("the name of a node");
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || !all_digits(text.substr(colon + 1)))
    return PortTerm{.kind = PortTermKind::node, .name = std::string(text)};
  const auto port = port_of(text.substr(colon + 1));
  if (!port) return wrong_term("a port number from 0 to 254 behind the name of the node");
  return PortTerm{
      .kind = PortTermKind::node_port, .name = std::string(text.substr(0, colon)), .number = *port};
}

/// "groups:a" for "group:a". With a port number behind it the name is a host's, such as node1, nodes or mail;
/// but "rails:1" and "Rail:1" are taken for "rail:1", as rail and level have numbers.
bool is_typo_of(const PortKeyword& known, std::string_view prefix, std::string_view value) {
  const auto distance = edit_distance(prefix, known.word);
  if (distance > 1) return false;
  if (!port_of(value)) return true;
  const bool numbered = known.kind == PortTermKind::level || known.kind == PortTermKind::rail;
  const bool longer = prefix.size() != known.word.size() && !all_digits(prefix.substr(prefix.size() - 1));
  return numbered && (distance == 0 || longer);
}

/// "ALL_CA", "all", "All_CAs" or "slef". Hosts may be called allen or all_in_one. Distances, which do not
/// tell cases apart, cost much more than lengths.
bool is_like_keyword(std::string_view text) {
  if (text.starts_with("ALL")) return true;
  if (text.size() >= 3 && text.size() <= 5 && edit_distance(text, "SELF") <= 1) return true;
  const bool may_be_all = text.starts_with('a') || text.starts_with('A');
  return may_be_all && std::ranges::any_of(kPortKeywords, [&](const PortKeyword& keyword) {
           return text.size() == keyword.word.size() && edit_distance(text, keyword.word) == 0;
         });
}

/// What follows "group:", "level:" and the like.
TermResult parse_prefixed(PortTermKind kind, std::string_view value) {
  if (kind == PortTermKind::node) return parse_node(value);
  if (value.empty()) return wrong_term(kTermForm, "a name or a number belongs behind the colon");
  if (kind == PortTermKind::group || kind == PortTermKind::partition)
    return PortTerm{.kind = kind, .name = std::string(value)};
  constexpr std::uint64_t kMost = 65535;
  const auto number = all_digits(value) ? parse_number(value) : std::nullopt;
  const unsigned least = kind == PortTermKind::rail ? 1 : 0;
  if (!number || *number < least || *number > kMost)
    return wrong_term(fmt::format("a whole number from {} to 65535 behind the colon", least));
  return PortTerm{.kind = kind, .number = static_cast<unsigned>(*number)};
}

TermResult parse_guids(std::string_view text) {
  const auto dash = text.find('-');
  const auto first = parse_guid(trim(text.substr(0, dash)));
  if (!first) return wrong_term("a port GUID such as 0x0002c90300001234");
  if (dash == std::string_view::npos) return PortTerm{.kind = PortTermKind::guid, .first = *first};
  const auto last = parse_guid(trim(text.substr(dash + 1)));
  if (!last) return wrong_term("a range of port GUIDs, as in 0x10-0x1f");
  if (*last < *first) return wrong_term("a range of port GUIDs whose first is not above its last");
  return PortTerm{.kind = PortTermKind::guid_range, .first = *first, .last = *last};
}

/// The 16 digits of a GUID that is written as "00:02:c9:03:00:00:12:34", else empty.
std::string digits_of_groups(std::string_view text) {
  std::string digits;
  std::size_t groups = 0;
  while (!text.empty()) {
    const auto group = text.substr(0, text.find(':'));
    digits += group;
    ++groups;
    text.remove_prefix(std::min(text.size(), group.size() + 1));
  }
  constexpr std::string_view kHex = "0123456789abcdefABCDEF";
  const bool whole =
      digits.size() == 16 && groups == 8 && digits.find_first_not_of(kHex) == std::string::npos;
  return whole ? digits : std::string();
}

bool looks_like_guids(std::string_view text) {
  return text.starts_with("0x") || text.starts_with("0X") || parse_guid(text.substr(0, text.find('-')));
}

}  // namespace

std::expected<PortTerm, PortTermError> parse_port_term(std::string_view given) {
  const auto text = trim(given);
  if (text.empty()) return wrong_term(kTermForm);
  for (const auto& keyword : kPortKeywords) {
    if (text == keyword.word) return PortTerm{.kind = keyword.kind};
  }
  if (looks_like_guids(text)) return parse_guids(text);
  if (all_digits(text)) return wrong_term(kTermForm, "a GUID begins with 0x");
  if (const auto digits = digits_of_groups(text); !digits.empty())
    return wrong_term(kTermForm,
                      fmt::format("a GUID is 0x{}; a node of that name is \"node:{}\"", digits, text));
  const auto colon = text.find(':');
  const auto prefix = text.substr(0, colon);
  if (colon != std::string_view::npos) {
    for (const auto& known : kPortPrefixes) {
      if (prefix == known.word) return parse_prefixed(known.kind, trim(text.substr(colon + 1)));
      if (is_typo_of(known, prefix, trim(text.substr(colon + 1))))
        return wrong_term(kTermForm, fmt::format("did you mean \"{}:\"? A node of that name is \"node:{}\"",
                                                 known.word, printable(text)));
    }
  }
  // A mistyped keyword would be the name of a node that never comes.
  if (is_like_keyword(text) && !is_glob(text)) {
    auto near = did_you_mean(text, words_of(kPortKeywords));
    if (!near.empty()) near += " ";
    return wrong_term(kTermForm, fmt::format("{}A node of that name is \"node:{}\"", near, printable(text)));
  }
  if (has_open_set(text))
    return wrong_term("a pattern whose '[' has its ']', such as \"h[0-3]\"",
                      fmt::format("a node of that name is \"node:{}\"", printable(text)));
  return parse_node(text);
}

namespace {

/// Nearly all names. Of others it is parsed what they would be, which costs ten times as much.
bool is_plainly_a_name(std::string_view name) {
  constexpr std::size_t kLongestLikeSelf = 5;
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  // The words begin with A or S, and GUIDs with digits, a to f or x.
  return name.size() > kLongestLikeSelf && std::string_view("ghijklmnopqrtuvwyz").contains(name.front()) &&
         name.find_first_not_of(kPlain) == std::string_view::npos;
}

}  // namespace

std::string to_string(const PortTerm& term) {
  if (term.kind == PortTermKind::node && is_plainly_a_name(term.name)) return term.name;
  for (const auto& keyword : kPortKeywords) {
    if (keyword.kind == term.kind) return std::string(keyword.word);
  }
  if (term.kind == PortTermKind::guid) return fmt::format("{}", term.first);
  if (term.kind == PortTermKind::guid_range) return fmt::format("{}-{}", term.first, term.last);
  if (term.kind == PortTermKind::node || term.kind == PortTermKind::node_port) {
    auto text = term.kind == PortTermKind::node ? term.name : fmt::format("{}:{}", term.name, term.number);
    const auto plain = parse_port_term(text);
    return plain && *plain == term ? text : std::string(kNodePrefix) + text;
  }
  const bool by_number = term.kind == PortTermKind::level || term.kind == PortTermKind::rail;
  for (const auto& known : kPortPrefixes) {
    if (known.kind == term.kind)
      return fmt::format("{}:{}", known.word, by_number ? std::to_string(term.number) : term.name);
  }
  return {};
}

std::string to_string(const PortSet& set) {
  std::string text;
  for (const auto& term : set.terms) text += (text.empty() ? "" : ", ") + to_string(term);
  return text;
}

std::string to_string(const GroupError& error) {
  if (error.cycle)
    return fmt::format("group {}: {} is a cycle", error.path.front(), fmt::join(error.path, " -> "));
  const auto& last = error.path.back();
  auto text = error.path.size() > 1 ? fmt::format("group {}: there is no group {}", error.path.front(), last)
                                    : fmt::format("there is no group {}", last);
  if (!error.hint.empty()) text += "; " + error.hint;
  return text;
}

namespace {

/// Follows the references of groups, depth first and without recursion: a chain may be as long as a file.
class GroupWalk {
 public:
  explicit GroupWalk(const PortGroups& groups) : groups_(groups) {
    for (const auto& [name, set] : groups) names_.push_back(name);
  }

  std::optional<GroupError> from(const std::string& start) {
    if (done_.contains(start)) return std::nullopt;
    auto found = follow(start);
    // What is on the path of an error is not reported again.
    for (const auto& step : path_) done_.insert(step.name);
    path_.clear();
    on_path_.clear();
    return found;
  }

  GroupError missing(std::vector<std::string> path) const {
    auto hint = did_you_mean(path.back(), names_);
    return {.path = std::move(path), .cycle = false, .hint = std::move(hint)};
  }

 private:
  struct Step {
    std::string name;
    std::size_t next = 0;
  };

  std::vector<std::string> path_names(const std::string& last) const {
    std::vector<std::string> names;
    for (const auto& step : path_) names.push_back(step.name);
    names.push_back(last);
    return names;
  }

  void push(const std::string& name) {
    path_.push_back({.name = name});
    on_path_.insert(name);
  }

  /// The path from the group to itself, without what leads to it.
  GroupError cycle(const std::string& name) const {
    auto names = path_names(name);
    names.erase(names.begin(), std::ranges::find(names, name));
    return {.path = std::move(names), .cycle = true};
  }

  std::optional<GroupError> follow(const std::string& start) {
    push(start);
    while (!path_.empty()) {
      auto& step = path_.back();
      const auto& terms = groups_.find(step.name)->second.terms;
      if (step.next == terms.size()) {
        done_.insert(step.name);
        on_path_.erase(step.name);
        path_.pop_back();
        continue;
      }
      const auto& term = terms[step.next++];
      if (term.kind != PortTermKind::group || done_.contains(term.name)) continue;
      if (!groups_.contains(term.name)) return missing(path_names(term.name));
      if (on_path_.contains(term.name)) return cycle(term.name);
      push(term.name);
    }
    return std::nullopt;
  }

  const PortGroups& groups_;
  std::vector<std::string> names_{};
  std::vector<Step> path_{};
  std::set<std::string, std::less<>> on_path_{};
  std::set<std::string, std::less<>> done_{};
};

}  // namespace

std::vector<GroupError> check_groups(const PortGroups& groups) {
  std::vector<GroupError> errors;
  GroupWalk walk(groups);
  for (const auto& [name, set] : groups) {
    if (auto error = walk.from(name)) errors.push_back(*std::move(error));
  }
  return errors;
}

std::optional<GroupError> check_references(const PortSet& set, const PortGroups& groups) {
  for (const auto& term : set.terms) {
    if (term.kind == PortTermKind::group && !groups.contains(term.name))
      return GroupWalk(groups).missing({term.name});
  }
  return std::nullopt;
}

}  // namespace smd::config
