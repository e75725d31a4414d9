// SPDX-License-Identifier: Apache-2.0
#include "smd/access/told_uses.h"

#include "smd/access/token.h"

namespace smd::access {

bool ToldUses::is_due(const std::string& token, std::int64_t now) const {
  const auto at = told_.find(token);
  return at == told_.end() || now - at->second >= kUseKept || now < at->second;  // a clock that was set back
}

void ToldUses::add(const std::string& token, std::int64_t now) {
  std::erase_if(told_, [&](const auto& one) { return now - one.second >= kUseKept; });
  told_[token] = now;
}

}  // namespace smd::access
