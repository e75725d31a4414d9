// SPDX-License-Identifier: Apache-2.0
#include "smd/replica/receiver.h"

#include <fmt/format.h>

#include <utility>

namespace smd::replica {

Receiver::Receiver(const Kept& have) : image_(image_of(have)) {
  const auto& replica = *std::get<store::ReplicaStatePtr>(have);
  position_ = replica.position;
  source_ = replica.source;
  fence_ = position_.epoch;
}

std::size_t Receiver::rows() const {
  std::size_t all = 0;
  for (const auto& [kind, rows] : image_) all += rows.size();
  return all;
}

Resume Receiver::resume() const {
  return {.have = position_, .source = source_, .snapshot = staging_.of, .chunk = staging_.next};
}

std::expected<Receiver::Took, std::string> Receiver::take(SnapshotChunk chunk) {
  if (chunk.of.epoch < fence_) return Took::refused;
  const bool goes_on = staging_.of == chunk.of && staging_.source == chunk.source;
  if (!goes_on || chunk.index == 0)
    staging_ = {.of = chunk.of, .source = chunk.source, .next = 0, .count = chunk.count, .image = {}};
  if (chunk.index != staging_.next)
    return std::unexpected(fmt::format("chunk {} of a snapshot after {}", chunk.index, staging_.next));
  if (chunk.count != staging_.count) {  // which of both is right is not known
    const auto said = std::exchange(staging_, {}).count;
    return std::unexpected(fmt::format("a snapshot of {} chunks, and of {}", said, chunk.count));
  }
  apply_changes(std::move(chunk.rows), staging_.image);
  ++staging_.next;
  if (staging_.next < chunk.count) return Took::part;
  for (const auto& [kind, rows] : image_) changed_.insert_or_assign(kind, std::nullopt);
  for (const auto& [kind, rows] : staging_.image) changed_.insert_or_assign(kind, std::nullopt);
  image_ = std::move(staging_.image);
  position_ = chunk.of;
  source_ = chunk.source;
  fence_ = position_.epoch;
  staging_ = {};
  return Took::changed;
}

std::expected<Receiver::Took, std::string> Receiver::take(Transaction transaction) {
  const auto at = transaction.at;
  if (at.epoch < fence_) return Took::refused;
  const bool same = at.epoch == position_.epoch && transaction.source == source_;
  if (same && at.number <= position_.number) return Took::nothing;
  if (!same || at.number != position_.number + 1) {
    return std::unexpected(
        fmt::format("transaction {}.{} after {}.{}", at.epoch, at.number, position_.epoch, position_.number));
  }
  touch(transaction.changes);
  apply_changes(std::move(transaction.changes), image_);
  position_ = at;
  return Took::changed;
}

std::vector<std::string> Receiver::compare(const DigestsAt& other) {
  if (other.at != position_) return {};
  auto kinds = differing(digests(image_), other.digests);
  if (!kinds.empty()) forget();
  return kinds;
}

void Receiver::touch(const Changes& changes) {
  for (const auto& kind : changes) {
    auto& rows = changed_.try_emplace(kind.kind, std::set<Cells>()).first->second;
    for (std::size_t i = 0; rows && i < kind.changes.size(); ++i) rows->insert(kind.changes[i].key);
  }
}

void Receiver::touch_again(const Changes& changes) {
  for (const auto& kind : changes) changed_.insert_or_assign(kind.kind, std::nullopt);
}

void Receiver::touch_all() {
  for (const auto& [kind, rows] : image_) changed_.insert_or_assign(kind, std::nullopt);
}

Changes Receiver::take_changed() {
  Changes all;
  for (const auto& [kind, changed] : std::exchange(changed_, {})) {
    auto& made = all.emplace_back(KindChanges{.kind = kind, .changes = {}});
    if (!changed) continue;
    const auto now = image_.find(kind);
    for (const auto& key : *changed) {
      Change change{.key = key, .value = std::nullopt};
      if (now != image_.end()) {
        if (const auto row = now->second.find(key); row != now->second.end()) change.value = row->second;
      }
      made.changes.push_back(std::move(change));
    }
  }
  return all;
}

}  // namespace smd::replica
