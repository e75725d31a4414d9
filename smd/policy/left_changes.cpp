// SPDX-License-Identifier: Apache-2.0
#include "smd/policy/left_changes.h"

#include <fmt/format.h>

#include <set>

namespace smd::policy {
namespace {

bool same_access(const access::Token& a, access::Token b) {
  b.last_use = a.last_use;
  return a == b;
}

/// Names of valid tokens of `some` that `others` has otherwise, or not as valid ones.
void add_tokens(const access::Tokens& some, const access::Tokens& others, std::int64_t now,
                std::set<std::string>& names) {
  for (const auto& [name, token] : some) {
    const auto at = others.find(name);
    if (token.is_valid(now) && (at == others.end() || !same_access(token, at->second))) names.insert(name);
  }
}

void add_ports(const DisabledPorts& some, const DisabledPorts& others, std::set<PortAt>& ports) {
  for (const auto& [at, order] : some) {
    if (find_disabled(others, at) == others.end()) ports.insert(at);
  }
}

}  // namespace

LeftChanges left_changes(const Policies& ours, const Policies& masters, std::int64_t now) {
  LeftChanges left;
  for (const auto& [name, partition] : ours.api) {
    const auto at = masters.api.find(name);
    if (at == masters.api.end() || *at->second != *partition) left.partitions.push_back(name);
  }
  std::set<PortAt> ports;
  add_ports(ours.disabled_ports, masters.disabled_ports, ports);
  add_ports(masters.disabled_ports, ours.disabled_ports, ports);
  for (const auto& [node, port] : ports) left.ports.push_back(fmt::format("{}/{}", node, port));
  std::set<std::string> tokens;
  add_tokens(ours.tokens, masters.tokens, now, tokens);
  add_tokens(masters.tokens, ours.tokens, now, tokens);
  left.tokens.assign(tokens.begin(), tokens.end());
  return left;
}

}  // namespace smd::policy
