// SPDX-License-Identifier: Apache-2.0
#include "smd/etcd/left.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace smd::etcd {
namespace {

constexpr std::chrono::hours kLeftFor{24};
constexpr std::int64_t kRowsAtOnce = 32;

}  // namespace

Answered<bool> LeftWriter::add(BytesPtr frame, Opened opened) {
  if (opened.index == 0) {
    const auto begun = co_await begin();
    if (!begun) co_return std::unexpected(begun.error());
  }
  const std::string_view text(reinterpret_cast<const char*>(frame->data()), frame->size());
  for (auto& row : layout_.left_rows(port_, opened.index, text)) {
    const bool fits = batch_.operations() + 1 < kMostOperations && bytes_ + row.value.size() <= kBatch;
    if (!fits) {
      const auto done = co_await write();
      if (!done) co_return std::unexpected(done.error());
    }
    bytes_ += row.value.size();
    batch_.puts.push_back({.key = std::move(row.key), .value = std::move(row.value), .lease = lease_});
  }
  if (opened.index + 1 < opened.count) co_return true;
  batch_.puts.push_back(
      {.key = layout_.left_mark(port_), .value = fmt::format("{}", opened.count), .lease = lease_});
  co_return co_await write();
}

/// What we have left earlier goes: it is older.
Answered<bool> LeftWriter::begin() {
  const auto lease = co_await client_->grant(kLeftFor);
  if (!lease) co_return std::unexpected(lease.error());
  lease_ = *lease;
  batch_ = erasure_of_left(layout_, port_, {});
  co_return co_await write();
}

Answered<bool> LeftWriter::write() {
  const auto batch = std::exchange(batch_, {});
  bytes_ = 0;
  const auto done = co_await client_->transact(batch);
  if (!done) co_return std::unexpected(done.error());
  co_return true;
}

Answered<std::vector<Bytes>> read_left(ClientPtr client, Layout layout, Guid port, std::uint64_t count) {
  const auto span = layout.left(port);
  RangeAsk ask{.key = span.key, .end = span.end, .limit = kRowsAtOnce};
  std::vector<Bytes> frames;
  Joiner joiner(0);
  for (bool more = true; more;) {
    const auto answer = co_await client->range(ask);
    if (!answer) co_return std::unexpected(answer.error());
    for (const auto& row : answer->rows) {
      const auto frame = joiner.add(row);
      if (!frame) co_return std::vector<Bytes>();
      if (*frame) frames.emplace_back((*frame)->begin(), (*frame)->end());
    }
    more = answer->more && !answer->rows.empty();
    if (more) ask.key = answer->rows.back().key + '\0';
  }
  if (!joiner.between() || frames.size() != count) frames.clear();
  co_return frames;
}

Transaction erasure_of_left(const Layout& layout, Guid port, std::string epoch) {
  const auto span = layout.left(port);
  const auto mark = layout.left_mark(port);
  Transaction all{.guards = {}, .puts = {}, .erases = {{span.key, span.end}, {mark, mark + '\0'}}};
  if (!epoch.empty()) all.guards.push_back({.key = layout.epoch(), .value = std::move(epoch)});
  return all;
}

}  // namespace smd::etcd
