// SPDX-License-Identifier: Apache-2.0
#include "smd/access/told_uses.h"

#include <algorithm>

namespace smd::access {

bool ToldUses::is_due(const std::string& token, std::int64_t now) const {
  const auto at = told_.find(token);
  return at == told_.end() || now - at->second >= kUseKept || now < at->second;  // a clock that was set back
}

void ToldUses::add(const std::string& token, std::int64_t now) {
  std::erase_if(told_, [&](const auto& one) { return now - one.second >= kUseKept; });
  told_[token] = now;
}

bool UnkeptUses::add(const std::string& token, std::int64_t used) {
  const auto [at, added] = uses_.emplace(token, used);
  const bool is_near = used >= at->second && used - at->second < kUseKept;
  if (!added && is_near) return false;
  at->second = used;
  return true;
}

void UnkeptUses::forget_kept(const Tokens& kept) {
  std::erase_if(uses_, [&](const auto& use) {
    const auto at = kept.find(use.first);
    return at == kept.end() || use.second - at->second.last_use < kUseKept;
  });
}

void UnkeptUses::show_in(Tokens& tokens) const {
  for (const auto& [name, used] : uses_) {
    const auto at = tokens.find(name);
    if (at != tokens.end()) at->second.last_use = std::max(at->second.last_use, used);
  }
}

}  // namespace smd::access
