// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who calls the API, and what that caller may do in each subnet.

#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "smd/access/token.h"

namespace smd::access {

/// What a caller may do in one subnet.
struct Right {
  Role role = Role::viewer;
  std::vector<std::string> partitions{};  ///< of a tenant
};

class Access {
 public:
  /// An admin of all subnets: who may use the Unix socket.
  static Access local(std::string name);
  /// Without rights until add() gives some.
  Access() = default;

  /// The token `name` is good in this subnet.
  void add(const std::string& subnet, std::string name, Right right);

  bool is_local() const { return local_; }
  /// A local user, or the owner of a token that is valid in some subnet.
  bool is_known() const { return local_ || !rights_.empty(); }
  /// For the log: the token's name, or that of the local user.
  const std::string& name() const { return name_; }
  /// Nothing: to this caller there is no such subnet.
  std::optional<Right> in(std::string_view subnet) const;
  /// The least of the roles in all subnets that the caller sees, for calls that are about the process; a
  /// token that is not good in one of `subnets` is a viewer at most.
  Role in_all(const std::vector<std::string>& subnets) const;
  /// The caller sees these partitions of the subnet alone; nothing: all.
  std::optional<std::vector<std::string>> only_partitions(std::string_view subnet) const;

 private:
  bool local_ = false;
  std::string name_;
  std::map<std::string, Right, std::less<>> rights_;
};

/// The tokens of a subnet.
struct TokensOf {
  std::string subnet;
  const Tokens* tokens;  ///< not null
};

/// A token that was used: where its use is to be kept.
struct Use {
  std::string subnet, name;
};

/// The rights of a secret at `now`, seconds since 1970; `uses` gets the tokens whose last use is to be kept.
/// An unknown or expired secret has none.
Access access_of(std::string_view secret, const std::vector<TokensOf>& subnets, std::int64_t now,
                 std::vector<Use>& uses);

/// The secret of an Authorization header. "Bearer SECRET"; "Basic" with base64 of "NAME:SECRET" (the name is
/// not looked at), or, as UFM's clients send it, with the secret itself. Nothing: there is none.
std::optional<std::string> secret_of(std::string_view authorization);

}  // namespace smd::access
