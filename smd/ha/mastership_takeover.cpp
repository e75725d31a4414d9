// SPDX-License-Identifier: Apache-2.0
// The fabric falls to a standby that knows it: one round of SMInfo, and it is master.
#include <algorithm>
#include <utility>

#include "mad/suspend.h"
#include "mad/transactions/ask.h"
#include "smd/ha/mastership.h"
#include "smd/ha/other_sms.h"
#include "smd/sweep/m_key_hints.h"
#include "smd/sweep/paths.h"

namespace smd::sm::inline availability {
namespace {

/// An SM that lives answers within this; one that does not is judged by what it was.
constexpr mad::Duration kOneTry = std::chrono::milliseconds(100);

asio::awaitable<void> ask_other(mad::Transactions* tx, mad::Target target, OtherSm* other) {
  const auto info = co_await mad::get_once<wire::SmInfo>(*tx, target, kOneTry);
  other->answered = info.has_value();
  if (info) other->info = *info;
}

}  // namespace

asio::awaitable<bool> Mastership::take_over() {
  const auto subnet = parts_.subnet;
  if (!subnet || !fabric_is_free()) co_return false;
  begin_work();  // what a standstill before this has left open is asked now
  const Paths paths(*subnet);
  auto others = subnet->other_sms;
  // After a sweep that has failed it is not polled; one that was not read may be master yet.
  if (followed_ && std::ranges::find(others, followed_->at, &OtherSm::at) == others.end())
    others.push_back(*followed_);
  SmReads own;
  mad::TaskGroup group(parts_.executor);
  for (auto& other : others) {
    other.answered = false;
    if (state_.hung.contains(other.info.guid)) continue;  // its polls were the question
    const auto path = path_to(paths, *subnet, other);
    if (path) group.spawn(ask_other(&parts_.tx, target_of(*subnet, other.at, *path), &other));
  }
  group.spawn(read_own_port(subnet, &own));
  co_await group.join();
  co_await group.stop();
  const bool cancelled = co_await mad::was_cancelled();
  if (cancelled || own.heavy) co_return false;
  for (auto& other : others) other = by_place(std::move(other));
  on(machine::OthersAsked{std::move(others)});
  co_return state_.sm == wire::SmState::master;
}

}  // namespace smd::sm::inline availability
