// SPDX-License-Identifier: Apache-2.0
#pragma once
// Uses of tokens that another SM was told of.

#include <cstdint>
#include <map>
#include <string>

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

}  // namespace smd::access
