// SPDX-License-Identifier: Apache-2.0
// When tokens were used last: kept here, or by the master that is followed.
#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "smd/api/hand_on.h"
#include "smd/base/unix_time.h"
#include "smd/daemon/instance.h"

namespace smd::daemon {
namespace {

/// Between two looks whether uses are kept.
constexpr mad::Duration kTellAgain = std::chrono::seconds(5);

}  // namespace

void Instance::token_used(const std::string& name, std::int64_t now) {
  asio::post(io_, [this, name, now] { note_use(name, now); });
}

void Instance::note_use(const std::string& token, std::int64_t used) {
  const bool copies = kept() != nullptr && kept()->following().follows;
  return copies ? tell_use(token, used) : keep_use(token, used);
}

/// When the use of the token was that is kept; 0: none. Nothing: there is no such token.
std::optional<std::int64_t> Instance::kept_use(const std::string& token) const {
  if (!now_.policy_state) return std::nullopt;
  const auto policies = kept() != nullptr ? kept()->policies() : now_.policy_state->policies;
  const auto at = policies->tokens.find(token);
  return at != policies->tokens.end() ? std::optional(at->second.last_use) : std::nullopt;
}

/// Nothing of it is urgent: uses that come while another change is on its way are kept together after it.
void Instance::keep_use(const std::string& token, std::int64_t used) {
  const auto last = kept_use(token);
  if (!last || used - *last < access::kUseKept) return;
  const bool first = uses_.empty();
  auto& latest = uses_[token];
  latest = std::max(latest, used);
  if (first) group_.spawn(keep_uses());
}

/// The master keeps it, which shows in the copy of its tokens. Until then it is shown here: the master may be
/// gone, or have no such calls, and we may be the next.
void Instance::tell_use(const std::string& token, std::int64_t used) {
  if (!replicator_ || !kept_use(token)) return;
  const auto now = sm::unix_now();
  if (told_uses_.is_due(token, now) && replicator_->tell(api::call_of_use(token, now - used)))
    told_uses_.add(token, now);
  if (!unkept_uses_.add(token, used)) return;
  set_policy_state(with_unkept_uses(now_.policy_state->policies), now_.policy_state->merged);
  if (!std::exchange(settling_uses_, true)) group_.spawn(settle_uses());
}

/// Until all of them are kept, by the master or here.
asio::awaitable<void> Instance::settle_uses() {
  while (!unkept_uses_.all().empty()) {
    const bool time = co_await clock_.sleep(kTellAgain);
    if (!time) co_return;
    unkept_uses_.forget_kept(kept()->policies()->tokens);
    for (const auto& [token, used] : std::map(unkept_uses_.all())) note_use(token, used);
  }
  settling_uses_ = false;
}

/// What this SM shows of tokens, where it follows a master.
policy::PoliciesPtr Instance::with_unkept_uses(policy::PoliciesPtr policies) const {
  if (unkept_uses_.all().empty()) return policies;
  auto shown = std::make_shared<policy::Policies>(*policies);
  unkept_uses_.show_in(shown->tokens);
  return shown;
}

}  // namespace smd::daemon
