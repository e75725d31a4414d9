// SPDX-License-Identifier: Apache-2.0
#pragma once
// Uses of tokens that another SM is to keep: when it was told, and those that it has not kept yet.

#include <cstdint>
#include <map>
#include <string>

#include "smd/access/token.h"

namespace smd::access {

/// Each token once in kUseKept seconds, whatever came of it. `now`: seconds since 1970.
class ToldUses {
 public:
  bool is_due(const std::string& token, std::int64_t now) const;
  /// Was told now.
  void add(const std::string& token, std::int64_t now);

 private:
  std::map<std::string, std::int64_t> told_;  ///< by name, when; none is older than kUseKept
};

/// Those that are not kept yet, each once in kUseKept seconds.
class UnkeptUses {
 public:
  /// False: a use of the token that is hardly earlier is here already. `used`: seconds since 1970.
  bool add(const std::string& token, std::int64_t used);
  /// Forgets those that are kept now, as they are or by a later use, and those of tokens that are gone.
  void forget_kept(const Tokens& kept);
  /// The same tokens as used last then. Of tokens that are not there nothing is shown.
  void show_in(Tokens& tokens) const;
  /// By name, when.
  const std::map<std::string, std::int64_t>& all() const { return uses_; }

 private:
  std::map<std::string, std::int64_t> uses_;
};

}  // namespace smd::access
