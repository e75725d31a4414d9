// SPDX-License-Identifier: Apache-2.0
#include "smd/background/vl_table_reader.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "mad/task_group.h"

namespace smd::sm::inline background {
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

void VlTableReader::ask() {
  auto first = std::move(cursor_.first);
  cursor_ = {};
  cursor_.first = std::move(first);
  pool_.trim();
  next_ = parts_.scheduler.clock().now() + kBetween;
}

void VlTableReader::read_first(Guid node) {
  constexpr std::size_t kMost = 8;
  auto& first = cursor_.first;
  const bool takes = next_ && first.size() < kMost && std::ranges::find(first, node) == first.end();
  if (takes) first.push_back(node);
}

asio::awaitable<VlTableReader::Read> VlTableReader::read_some() {
  next_.reset();
  auto& loop = parts_.loop;
  cursor_.whole = loop.decided().qos_tables != nullptr;
  if (!loop.subnet() || parts_.mastership.state() != wire::SmState::master) co_return Read{};
  auto& clock = parts_.scheduler.clock();
  std::optional<Subnet> after;
  mad::TaskGroup group(parts_.executor);
  group.spawn(read_into(&parts_.tx, loop.subnet(), &cursor_, &pool_, &after));
  const bool clients_wait = !cursor_.first.empty();
  bool going = true;
  while (going && group.count() != 0 && !parts_.scheduler.other_work_waits())
    going = co_await clock.sleep(kLook);
  const bool whole = group.count() == 0;
  co_await group.stop();
  if (!going) co_return Read{.cancelled = true};
  const bool more = after || !whole;
  Read read;
  if (after) {
    const auto before = loop.subnet();
    loop.take_tables(*std::move(after));
    read.altered = loop.subnet()->altered != before->altered;
  }
  if (more) next_ = clock.now() + kBetween;
  read.to_write = !more && cursor_.whole;
  read.to_publish = !more || (clients_wait && cursor_.first.empty());
  co_return read;
}

}  // namespace smd::sm::inline background
