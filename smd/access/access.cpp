// SPDX-License-Identifier: Apache-2.0
#include "smd/access/access.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <utility>

#include "smd/base/base64.h"

namespace smd::access {
namespace {

/// The longest secret that is looked at, with a name before it.
constexpr std::size_t kLongest = 512;

bool same_word(std::string_view a, std::string_view lower) {
  return std::ranges::equal(
      a, lower, {}, [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
}

bool same_hash(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

Access Access::local(std::string name) {
  Access access;
  access.local_ = true;
  access.name_ = std::move(name);
  return access;
}

void Access::add(const std::string& subnet, std::string name, Right right) {
  name_ = std::move(name);
  rights_.insert_or_assign(subnet, std::move(right));
}

std::optional<Right> Access::in(std::string_view subnet) const {
  if (local_) return Right{.role = Role::admin};
  const auto at = rights_.find(subnet);
  return at != rights_.end() ? std::optional(at->second) : std::nullopt;
}

Role Access::in_all(const std::vector<std::string>& subnets) const {
  if (local_) return Role::admin;
  Role least = Role::admin;
  for (const auto& [subnet, right] : rights_) least = std::min(least, right.role);
  const bool everywhere =
      std::ranges::all_of(subnets, [&](const auto& one) { return rights_.contains(one); });
  return everywhere ? least : std::min(least, Role::viewer);
}

std::optional<std::vector<std::string>> Access::only_partitions(std::string_view subnet) const {
  const auto right = in(subnet);
  if (!right) return std::vector<std::string>();
  if (right->role != Role::tenant) return std::nullopt;
  return right->partitions;
}

Access access_of(std::string_view secret, const std::vector<TokensOf>& subnets, std::int64_t now,
                 std::vector<Use>& uses) {
  Access access;
  const auto hash = hash_of(secret);
  if (hash.empty()) return access;
  for (const auto& [subnet, tokens] : subnets) {
    for (const auto& [name, token] : *tokens) {
      if (!same_hash(token.hash, hash) || !token.is_valid(now)) continue;
      access.add(subnet, name, {.role = token.role, .partitions = token.partitions});
      if (now - token.last_use >= kUseKept) uses.push_back({subnet, name});
    }
  }
  return access;
}

std::optional<std::string> secret_of(std::string_view authorization) {
  const auto blank = authorization.find(' ');
  if (blank == std::string_view::npos || authorization.size() > kLongest) return std::nullopt;
  const auto scheme = authorization.substr(0, blank);
  auto rest = authorization.substr(blank);
  rest.remove_prefix(std::min(rest.size(), rest.find_first_not_of(' ')));
  while (rest.ends_with(' ')) rest.remove_suffix(1);
  if (rest.empty()) return std::nullopt;
  if (same_word(scheme, "bearer")) return std::string(rest);
  if (!same_word(scheme, "basic")) return std::nullopt;
  if (rest.starts_with("smd_")) return std::string(rest);
  const auto pair = sm::from_base64(rest);
  if (!pair) return std::nullopt;
  const auto colon = pair->find(':');
  return colon == std::string::npos ? *pair : pair->substr(colon + 1);
}

}  // namespace smd::access
