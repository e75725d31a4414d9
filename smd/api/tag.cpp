// SPDX-License-Identifier: Apache-2.0
#include "smd/api/tag.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

#include "smd/access/token.h"

namespace smd::api {
namespace {

/// Calls fn(entity tag with its quotes) for each of a list, until it is true; weak tags count where `weak`.
template <class Fn>
bool any_tag(std::string_view list, bool weak, Fn fn) {
  while (!list.empty()) {
    const auto begin = list.find_first_not_of(" \t,");
    if (begin == std::string_view::npos) return false;
    list.remove_prefix(begin);
    const bool is_weak = list.starts_with("W/");
    if (is_weak) list.remove_prefix(2);
    if (!list.starts_with('"')) return false;  // not a list of tags
    const auto end = list.find('"', 1);
    if (end == std::string_view::npos) return false;
    if ((weak || !is_weak) && fn(list.substr(0, end + 1))) return true;
    list.remove_prefix(end + 1);
  }
  return false;
}

std::string policy_part(const PolicyState* policy_state) {
  return fmt::format("{:x}",
                     policy_state != nullptr && policy_state->merged ? policy_state->merged->digest : 0);
}

Answer other_state(std::string_view what) {
  return error_of(412, "changed", fmt::format("If-Match: {} since: read again, then decide again", what));
}

bool is_any(const std::string& if_match) { return if_match.find_first_not_of(" \t*") == std::string::npos; }

}  // namespace

std::string tag_of(const SubnetView& view) {
  return fmt::format("\"{:x}-{}\"", view.epoch, policy_part(view.policy_state.get()));
}

std::string tag_of_body(std::string_view body) { return fmt::format("\"b{:.16}\"", access::hash_of(body)); }

bool is_known_tag(const std::string& if_none_match, const std::string& tag) {
  if (if_none_match.empty()) return false;
  return is_any(if_none_match) || any_tag(if_none_match, true, [&](auto one) { return one == tag; });
}

bool names_state(const std::string& if_match) { return !if_match.empty() && !is_any(if_match); }

std::string ports_tag_of(const SubnetView& view) {
  std::string text;
  if (view.policy_state) {
    for (const auto& [at, port] : view.policy_state->policies->disabled_ports)
      fmt::format_to(std::back_inserter(text), "{}/{} {}/{} {} {}\n", at.first, at.second, port.peer.first,
                     port.peer.second, port.since, port.by);
  }
  return fmt::format("{:.16}", access::hash_of(text));
}

std::optional<Answer> not_that_state(const Request& request, const SubnetView& view) {
  if (!request.ports_tag.empty() && request.ports_tag != ports_tag_of(view))
    return other_state("the ports that are disabled have changed");
  const auto& wanted = request.if_match;
  if (!names_state(wanted)) return std::nullopt;
  const auto tag = tag_of(view);
  if (any_tag(wanted, false, [&](auto one) { return one == tag; })) return std::nullopt;
  if (any_tag(wanted, false, [](auto one) { return one.starts_with("\"b"); }))
    return error_of(
        412, "changed",
        "If-Match: this is the tag of one answer; that of nodes, links, ports or partitions is the "
        "state's, which a change is compared with");
  return other_state("the subnet has changed");
}

std::optional<Answer> not_that_policy(const Request& request, const PolicyState& policy_state, bool tokens) {
  const auto& wanted = request.if_match;
  if (!names_state(wanted)) return std::nullopt;
  const auto part = policy_part(&policy_state);
  const auto is_it = [&](std::string_view one) {
    const auto dash = one.rfind('-');
    return dash != std::string_view::npos && one.substr(dash + 1, one.size() - dash - 2) == part;
  };
  // No ETag tells tokens apart.
  if (!tokens && any_tag(wanted, false, is_it)) return std::nullopt;
  return other_state("the partitions have changed");
}

void add_tag(Answer& answer, const std::string& tag) {
  answer.headers.emplace_back("ETag", tag);
  answer.headers.emplace_back("Cache-Control", "private, no-cache");
  answer.headers.emplace_back("Vary", "Authorization");
}

}  // namespace smd::api
