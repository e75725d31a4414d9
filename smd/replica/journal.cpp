// SPDX-License-Identifier: Apache-2.0
#include "smd/replica/journal.h"

#include <algorithm>
#include <utility>

namespace smd::replica {
namespace {

/// About so many bytes of rows are one chunk.
constexpr std::size_t kChunk = std::size_t{64} * 1024;

std::size_t bytes_of(const Cells& cells) {
  std::size_t bytes = 2;
  for (const auto& cell : cells) {
    const auto* text = std::get_if<std::string>(&cell);
    bytes += text != nullptr ? 5 + text->size() : 9;
  }
  return bytes;
}

std::vector<Changes> cut(Changes all) {
  std::vector<Changes> chunks(1);
  std::size_t bytes = 0;
  for (auto& kind : all) {
    for (auto& change : kind.changes) {
      if (bytes >= kChunk) {
        chunks.emplace_back();
        bytes = 0;
      }
      auto& into = chunks.back();
      if (into.empty() || into.back().kind != kind.kind) into.push_back({.kind = kind.kind, .changes = {}});
      bytes += bytes_of(change.key) + (change.value ? bytes_of(*change.value) : 0);
      into.back().changes.push_back(std::move(change));
    }
  }
  return chunks;
}

}  // namespace

std::shared_ptr<const Snapshot> make_snapshot(const Kept& kept, Position at, Guid source) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->of = at;
  auto chunks = cut(difference(store::nothing_kept(), kept));
  const auto count = static_cast<std::uint32_t>(chunks.size());
  for (auto& rows : chunks) {
    const auto index = static_cast<std::uint32_t>(snapshot->chunks.size());
    snapshot->chunks.push_back(std::make_shared<const Bytes>(encode(
        SnapshotChunk{.of = at, .source = source, .index = index, .count = count, .rows = std::move(rows)})));
  }
  return snapshot;
}

void Journal::begin(Position at, Guid source) {
  active_ = true;
  latest_ = at;
  source_ = source;
  transactions_.clear();
  bytes_ = 0;
  snapshot_.reset();
}

void Journal::add(Changes changes) {
  ++latest_.number;
  auto frame = std::make_shared<const Bytes>(
      encode(Transaction{.at = latest_, .source = source_, .changes = std::move(changes)}));
  bytes_ += frame->size();
  transactions_.push_back(std::move(frame));
  while (bytes_ > kKept && transactions_.size() > 1) {
    bytes_ -= transactions_.front()->size();
    transactions_.pop_front();
  }
}

BytesPtr Journal::after(std::uint64_t number) const {
  const auto missing = latest_.number - number;
  if (number >= latest_.number || missing > transactions_.size()) return nullptr;
  return transactions_[transactions_.size() - missing];
}

std::shared_ptr<const Snapshot> Journal::snapshot() const {
  if (!snapshot_ || snapshot_->of.epoch != latest_.epoch) return nullptr;
  const bool kept = latest_.number - snapshot_->of.number <= transactions_.size();
  return kept ? snapshot_ : nullptr;
}

void Sender::resume(const Resume& from) {
  asked_ = from;
  snapshot_.reset();
  has_other_ = from.source != journal_.source() || from.have > journal_.latest();
  at_ = has_other_ ? Position{} : from.have;
  acked_ = at_;
}

/// A snapshot as soon as its last chunk is.
Position Sender::sent() const {
  return snapshot_ && chunk_ == snapshot_->chunks.size() ? std::max(at_, snapshot_->of) : at_;
}

bool Sender::acknowledged(Position at) {
  if (has_other_ && at > sent()) return false;
  acked_ = at;
  return true;
}

Sender::Next Sender::next() {
  if (!asked_ || !journal_.active()) return {};
  if (snapshot_ && snapshot_->of.epoch != journal_.latest().epoch) snapshot_.reset();
  if (snapshot_ && chunk_ < snapshot_->chunks.size()) return {.frame = snapshot_->chunks[chunk_++]};
  if (snapshot_) at_ = std::exchange(snapshot_, nullptr)->of;
  const auto latest = journal_.latest();
  const bool same = at_.epoch == latest.epoch && at_.number <= latest.number;
  if (same && at_.number == latest.number) return {};
  if (auto frame = same ? journal_.after(at_.number) : nullptr) {
    ++at_.number;
    return {.frame = std::move(frame)};
  }
  snapshot_ = journal_.snapshot();
  if (!snapshot_) return {.frame = nullptr, .needs_snapshot = true};
  chunk_ = asked_->snapshot == snapshot_->of && asked_->chunk < snapshot_->chunks.size() ? asked_->chunk : 0;
  return {.frame = snapshot_->chunks[chunk_++]};
}

}  // namespace smd::replica
