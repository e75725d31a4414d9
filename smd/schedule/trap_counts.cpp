// SPDX-License-Identifier: Apache-2.0
#include "smd/schedule/trap_counts.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include "mad/wire/trap.h"

namespace smd::sm::inline scheduling {
namespace {

bool has_name(std::uint16_t trap) {
  using namespace wire::trap;
  constexpr std::array kNamed{kGidInService,    kGidOutOfService,       kGroupCreated,  kGroupDeleted,
                              kLinkStateChange, kLocalLinkIntegrity,    kBufferOverrun, kFlowControlWatchdog,
                              kLocalChange,     kSystemImageGuidChange, kBadMKey,       kBadPKey,
                              kBadQKey,         kBadPKeyAtSwitch};
  return std::ranges::find(kNamed, trap) != kNamed.end();
}

}  // namespace

TrapCounts::Place& TrapCounts::place_of(std::uint16_t trap, Guid node) {
  const auto start = std::hash<std::uint64_t>()(node.value() * 31 + trap);
  for (std::size_t i = 0;; ++i) {
    auto& place = places_[(start + i) % kPlaces];
    const bool is_free = place.count.load(std::memory_order_relaxed) == 0;
    if (is_free || (place.trap == trap && place.node == node)) return place;
  }
}

void TrapCounts::count(std::uint16_t trap, Guid node) {
  if (!has_name(trap)) trap = kOtherTrap;
  auto* place = &place_of(trap, node);
  const bool is_new = place->count.load(std::memory_order_relaxed) == 0;
  if (is_new && node != Guid{} && used_ == kMost) place = &place_of(trap, node = Guid{});
  const auto before = place->count.load(std::memory_order_relaxed);
  if (before == 0) {
    place->trap = trap;
    place->node = node;
    if (node != Guid{}) ++used_;
  }
  place->count.store(before + 1, std::memory_order_release);
}

std::vector<TrapCounts::Row> TrapCounts::rows() const {
  std::vector<Row> rows;
  for (const auto& place : places_) {
    const auto count = place.count.load(std::memory_order_acquire);
    if (count != 0) rows.push_back({.trap = place.trap, .node = place.node, .count = count});
  }
  std::ranges::sort(rows, {}, [](const Row& row) { return std::tuple(row.trap, row.node); });
  return rows;
}

}  // namespace smd::sm::inline scheduling
