// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tokens of the API: who has one may call it over the network. Their secrets are kept nowhere.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smd::access {

/// What a token is good for. Each role includes the ones before it, except that a tenant sees its own
/// partitions only.
enum class Role : std::uint8_t { tenant, viewer, operator_, admin };

/// As the API and the command line name it. Static storage.
constexpr std::string_view to_string(Role role) {
  switch (role) {
    case Role::tenant:
      return "tenant";
    case Role::viewer:
      return "viewer";
    case Role::operator_:
      return "operator";
    case Role::admin:
      return "admin";
  }
  return "";
}
/// The role of that name, as to_string() writes it; nothing for other texts.
std::optional<Role> parse_role(std::string_view text);

/// A token of one subnet. Times are seconds since 1970.
struct Token {
  Role role = Role::viewer;
  std::string hash;                       ///< hash_of() its secret
  std::vector<std::string> partitions{};  ///< names that a tenant sees; empty for other roles
  std::int64_t made = 0;
  std::int64_t expires = 0;   ///< 0: never
  std::int64_t last_use = 0;  ///< 0: not used yet; kept once in kUseKept seconds
  friend bool operator==(const Token&, const Token&) = default;

  /// Whether it has not expired. `now`: seconds since 1970.
  bool is_valid(std::int64_t now) const { return expires == 0 || now < expires; }
};
/// A use that comes sooner after the one that is kept does not change the store.
inline constexpr std::int64_t kUseKept = 600;

/// By name.
using Tokens = std::map<std::string, Token, std::less<>>;

/// "smd_" and 32 hexadecimal digits: 128 bits of the system's random numbers. Empty where it has none.
std::string new_secret();
/// SHA-256 in hexadecimal. Secrets have 128 random bits, so that no salt is needed.
std::string hash_of(std::string_view secret);
/// 64 lower-case hexadecimal digits.
bool is_hash(std::string_view text);
/// 1 to 64 letters, digits and . _ -, not beginning with a dot.
bool is_name(std::string_view text);

}  // namespace smd::access
