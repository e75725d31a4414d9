// SPDX-License-Identifier: Apache-2.0
// Tables that no sweep waits for are read when nothing else is to be done, a few at a time.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "smd/manager.h"

namespace smd::sm {
namespace {

/// Gets at a time, and the time between: what agents have to do besides is not held up.
constexpr std::size_t kReadAtOnce = 2048;
constexpr auto kBetween = std::chrono::milliseconds(100);
/// Between two looks whether something else is to be done: a silent node takes seconds.
constexpr auto kLook = std::chrono::milliseconds(2);

asio::awaitable<void> read_into(mad::Transactions* tx, std::shared_ptr<const Subnet> subnet,
                                VlTableCursor* cursor, VlTablePool* pool, std::optional<Subnet>* after) {
  *after = co_await read_vl_tables(tx, std::move(subnet), cursor, pool, kReadAtOnce);
}

}  // namespace

/// The fabric may be another one than when it was looked at last.
void SubnetManager::ask_for_vl_tables() {
  auto first = std::move(vl_cursor_.first);
  vl_cursor_ = {};
  vl_cursor_.first = std::move(first);
  vl_pool_.trim();
  next_vl_tables_ = parts_.clock.now() + kBetween;
}

void SubnetManager::read_vl_tables_first(Guid node) {
  constexpr std::size_t kMost = 8;
  auto& first = vl_cursor_.first;
  const bool takes = next_vl_tables_ && first.size() < kMost && std::ranges::find(first, node) == first.end();
  if (takes) first.push_back(node);
}

/// False when cancelled.
asio::awaitable<bool> SubnetManager::read_some_vl_tables() {
  next_vl_tables_.reset();
  if (!loop_.subnet() || mastership_.state() != wire::SmState::master) co_return true;
  const auto other_work_waits = [this] {
    const auto next = due();
    return !agenda_.idle() && next && *next <= parts_.clock.now();
  };
  std::optional<Subnet> after;
  mad::TaskGroup group(parts_.executor);
  group.spawn(read_into(&tx_, loop_.subnet(), &vl_cursor_, &vl_pool_, &after));
  const bool clients_wait = !vl_cursor_.first.empty();
  bool going = true;
  while (going && group.count() != 0 && !other_work_waits()) going = co_await pause(kLook);
  const bool whole = group.count() == 0;
  co_await group.stop();
  if (!going) co_return false;
  const bool more = after || !whole;
  if (after) {
    const auto before = loop_.subnet();
    loop_.take_tables(*std::move(after));
    const bool other = loop_.subnet()->altered != before->altered;
    if (other && !mastership_.contested() && !unsettled_) judge_again();
  }
  if (more) next_vl_tables_ = parts_.clock.now() + kBetween;
  const bool to_tell = !more || (clients_wait && vl_cursor_.first.empty());
  if (to_tell && published()->subnet != loop_.subnet()) publish_between_sweeps();
  co_return true;
}

}  // namespace smd::sm
