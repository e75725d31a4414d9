// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/repaired_tables.h"

#include <cstring>
#include <memory>
#include <vector>

namespace smd::sm::inline decisions {
namespace {

StoredPtr with_digest(const StoredPtr& before, std::uint64_t digest) {
  if (digest == before->repaired_tables) return before;
  auto after = std::make_shared<Stored>(*before);
  after->repaired_tables = digest;
  return after;
}

/// One round of FNV-1a by words, and of the finalizer of MurmurHash3, which spreads high bits to low ones.
std::uint64_t mixed(std::uint64_t state, std::uint64_t word) {
  state = (state ^ word) * 1099511628211U;
  return state ^ (state >> 33U);
}

std::uint64_t digest_of_row(Guid node, const routing::LftRow* row) {
  auto state = mixed(14695981039346656037U, node.value());
  auto size = row != nullptr ? row->size() : 0;
  while (size != 0 && (*row)[size - 1] == routing::kNoRoute) --size;
  if (size == 0) return 0;
  std::size_t at = 0;
  for (std::uint64_t word = 0; at + sizeof word <= size; at += sizeof word) {
    std::memcpy(&word, row->data() + at, sizeof word);
    state = mixed(state, word);
  }
  for (; at < size; ++at) state = mixed(state, (*row)[at]);
  return mixed(state, size);
}

}  // namespace

std::uint64_t digest_of_tables(std::span<const routing::OldRow> rows) {
  std::uint64_t sum = 0;
  for (const auto& row : rows) sum += digest_of_row(row.guid, row.row.get());
  return sum > kTablesBeingWritten ? sum : kTablesBeingWritten + 1;
}

StoredPtr remember_tables(const StoredPtr& before, const RoutePart* routes) {
  if (routes == nullptr) return before;
  std::uint64_t digest = 0;
  if (routes->origin == RoutePart::Origin::repaired || !routes->left_engine.name.empty()) {
    std::vector<routing::OldRow> rows;
    for (const auto& row : routes->rows) rows.push_back({row.node, row.row});
    digest = digest_of_tables(rows);
  }
  return with_digest(before, digest);
}

StoredPtr remember_writing(const StoredPtr& before, const RoutePart* routes) {
  if (routes == nullptr || routes->origin == RoutePart::Origin::adopted) return before;
  return with_digest(before, kTablesBeingWritten);
}

}  // namespace smd::sm::inline decisions
