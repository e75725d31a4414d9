// SPDX-License-Identifier: Apache-2.0
#include "smd/replica/image.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "smd/replica/cells_text.h"

namespace smd::replica {
namespace {

using store::ReplicaState;

/// Calls fn(kinds, tuple element's type tag) for each sort of state of which there are kinds to copy.
template <class Fn>
void for_each_state(Fn fn) {
  fn(store::kinds(), sm::StoredPtr());
  fn(store::registry_kinds(), sa::RegistryPtr());
  fn(store::policy_kinds(), policy::PoliciesPtr());
}

void add(Changes& all, std::string_view kind, Change change) {
  if (all.empty() || all.back().kind != kind) all.push_back({.kind = std::string(kind), .changes = {}});
  all.back().changes.push_back(std::move(change));
}

Change carried_change(const std::string& key, const std::string* value) {
  Change change{.key = cells_of(key).value_or(Cells{}), .value = std::nullopt};
  if (value != nullptr) change.value = cells_of(*value).value_or(Cells{});
  return change;
}

void add_carried(Changes& all, const ReplicaState& before, const ReplicaState& now) {
  std::map<std::string, std::vector<Change>> by_kind;
  for (const auto& [at, value] : before.carried) {
    if (!now.carried.contains(at)) by_kind[at.first].push_back(carried_change(at.second, nullptr));
  }
  for (const auto& [at, value] : now.carried) {
    const auto was = before.carried.find(at);
    if (was == before.carried.end() || was->second != value)
      by_kind[at.first].push_back(carried_change(at.second, &value));
  }
  for (auto& [kind, changes] : by_kind) all.push_back({.kind = kind, .changes = std::move(changes)});
}

/// The states made of all rows of their kinds.
template <class State>
std::expected<std::shared_ptr<const State>, std::string> decoded(std::span<const store::KindOf<State>> kinds,
                                                                 const Image& image) {
  auto state = std::make_shared<State>();
  for (const auto& kind : kinds) {
    const auto rows = image.find(kind.table);
    if (rows == image.end()) continue;
    for (const auto& [key, value] : rows->second) {
      auto row = key;
      row.insert(row.end(), value.begin(), value.end());
      const bool complete = key.size() == kind.key.size() && value.size() == kind.value.size();
      if (!complete || !kind.decode(row, *state))
        return std::unexpected(fmt::format("a row of {} makes no sense", kind.table));
    }
  }
  return state;
}

/// `before` with the rows of `changed`, those of other kinds aside; null where that is not enough to know.
template <class State>
std::shared_ptr<const State> with_changes(std::span<const store::KindOf<State>> kinds, const Changes& changed,
                                          const State& before) {
  auto state = std::make_shared<State>(before);
  const auto rows_of = [&](const store::KindOf<State>& kind) {
    const auto found = std::ranges::find(changed, kind.table, &KindChanges::kind);
    return found != changed.end() ? &found->changes : nullptr;
  };
  for (const auto& kind : kinds) {
    const auto* rows = rows_of(kind);
    if (rows != nullptr && (rows->empty() || kind.erase == nullptr)) return nullptr;
  }
  for (const auto& kind : std::views::reverse(kinds)) {
    const auto* rows = rows_of(kind);
    for (std::size_t i = 0; rows != nullptr && i < rows->size(); ++i) {
      const auto& key = (*rows)[i].key;
      if (key.size() != kind.key.size() || !kind.erase(key, *state)) return nullptr;
    }
  }
  for (const auto& kind : kinds) {
    const auto* rows = rows_of(kind);
    for (std::size_t i = 0; rows != nullptr && i < rows->size(); ++i) {
      const auto& [key, value] = (*rows)[i];
      if (!value) continue;
      auto row = key;
      row.insert(row.end(), value->begin(), value->end());
      if (value->size() != kind.value.size() || !kind.decode(row, *state)) return nullptr;
    }
  }
  return state;
}

constexpr std::array<std::string_view, 4> kOfInventory{"inventory", "inventory_nodes", "machines",
                                                       "inventory_links"};

/// `before` with the changed rows of the inventory, which changes with each cable: where nothing else has
/// changed, and no row is gone on which others rest. Else null.
sm::StoredPtr with_inventory(const Changes& changed, const sm::Stored& before) {
  if (!before.inventory) return nullptr;
  auto stored = std::make_shared<sm::Stored>(before);
  stored->inventory = std::make_shared<sm::Inventory>(*before.inventory);
  const auto change = [&](const store::Kind& kind, const Change& row) {
    if (row.key.size() != kind.key.size()) return false;
    if (!row.value) return kind.erase != nullptr && kind.erase(row.key, *stored);
    auto cells = row.key;
    cells.insert(cells.end(), row.value->begin(), row.value->end());
    return row.value->size() == kind.value.size() && kind.decode(cells, *stored);
  };
  for (const bool gone : {true, false}) {
    for (const auto& kind : store::kinds()) {
      const auto rows = std::ranges::find(changed, kind.table, &KindChanges::kind);
      if (rows == changed.end()) continue;
      if (std::ranges::find(kOfInventory, kind.table) == kOfInventory.end() || rows->changes.empty())
        return nullptr;
      for (const auto& row : rows->changes) {
        if (row.value.has_value() != gone && !change(kind, row)) return nullptr;
      }
    }
  }
  return stored;
}

/// Taking a group out takes its members out, which other rows know nothing of.
bool changes_groups_in_place(const Changes& changed, const sa::Registry& before) {
  const auto found = std::ranges::find(changed, "mcast_groups", &KindChanges::kind);
  return found != changed.end() && std::ranges::any_of(found->changes, [&](const Change& change) {
           const auto* text = change.key.empty() ? nullptr : std::get_if<std::string>(&change.key.front());
           const auto gid = change.value && text != nullptr ? base::parse_gid(*text) : std::nullopt;
           return change.value && (!gid || before.groups().contains(Mgid{gid->bytes}));
         });
}

store::ReplicaStatePtr with_carried(const Image& image, const ReplicaState& before) {
  auto now = std::make_shared<ReplicaState>(before);
  now->carried.clear();
  for (const auto& [kind, rows] : image) {
    if (is_known(kind)) continue;
    for (const auto& [key, value] : rows) now->carried[{kind, cells_text(key)}] = cells_text(value);
  }
  return now;
}

std::uint64_t hash_of(const Cells& key, const Cells& value) {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (const auto& text : {cells_text(key), std::string(1, '\0'), cells_text(value)}) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  return hash ^ (hash >> 29U);
}

}  // namespace

bool is_known(std::string_view kind) {
  bool known = false;
  for_each_state([&](auto kinds, const auto&) {
    known = known || std::ranges::any_of(kinds, [&](const auto& one) { return one.table == kind; });
  });
  return known;
}

Changes difference(const Kept& before, const Kept& now) {
  Changes all;
  for_each_state([&](auto kinds, const auto& tag) {
    using Ptr = std::remove_cvref_t<decltype(tag)>;
    const auto &was = std::get<Ptr>(before), &is = std::get<Ptr>(now);
    if (was == is) return;
    for (const auto& kind : kinds)
      kind.difference(*was, *is, [&](Change change) { add(all, kind.table, std::move(change)); });
  });
  add_carried(all, *std::get<store::ReplicaStatePtr>(before), *std::get<store::ReplicaStatePtr>(now));
  return all;
}

std::size_t row_count(const Changes& changes) {
  std::size_t rows = 0;
  for (const auto& kind : changes) rows += kind.changes.size();
  return rows;
}

void apply_changes(Changes changes, Image& image) {
  for (auto& kind : changes) {
    auto& rows = image[kind.kind];
    for (auto& change : kind.changes) {
      if (change.value) {
        rows.insert_or_assign(std::move(change.key), *std::move(change.value));
      } else {
        rows.erase(change.key);
      }
    }
    if (rows.empty()) image.erase(kind.kind);
  }
}

Image image_of(const Kept& kept) {
  Image image;
  apply_changes(difference(store::nothing_kept(), kept), image);
  return image;
}

std::expected<Kept, std::string> state_of(const Image& image, const Changes& changed, const Kept& before) {
  auto now = before;
  std::string wrong;
  for_each_state([&](auto kinds, const auto& tag) {
    using Ptr = std::remove_cvref_t<decltype(tag)>;
    const bool touched = std::ranges::any_of(changed, [&](const KindChanges& one) {
      return std::ranges::any_of(kinds, [&](const auto& kind) { return kind.table == one.kind; });
    });
    if (!touched) return;
    if constexpr (std::is_same_v<Ptr, sa::RegistryPtr>) {
      const auto& was = std::get<Ptr>(now);
      const auto quick =
          changes_groups_in_place(changed, *was) ? nullptr : with_changes(kinds, changed, *was);
      if (quick) std::get<Ptr>(now) = quick;
      if (quick) return;
    }
    if constexpr (std::is_same_v<Ptr, sm::StoredPtr>) {
      auto& was = std::get<Ptr>(now);
      if (auto quick = with_inventory(changed, *was)) {
        was = std::move(quick);
        return;
      }
    }
    auto state = decoded(kinds, image);
    if (state) std::get<Ptr>(now) = std::move(*state);
    if (!state && wrong.empty()) wrong = state.error();
  });
  if (!wrong.empty()) return std::unexpected(wrong);
  const bool carried = std::ranges::any_of(changed, [](const auto& one) { return !is_known(one.kind); });
  auto& replica = std::get<store::ReplicaStatePtr>(now);
  if (carried) replica = with_carried(image, *replica);
  return now;
}

Digests digests(const Image& image) {
  Digests all;
  for (const auto& [kind, rows] : image) {
    for (const auto& [key, value] : rows) all[kind] += hash_of(key, value);
  }
  return all;
}

Digests digests(const Kept& kept) {
  Digests all;
  for (const auto& kind : difference(store::nothing_kept(), kept)) {
    for (const auto& change : kind.changes) all[kind.kind] += hash_of(change.key, *change.value);
  }
  return all;
}

std::vector<std::string> differing(const Digests& a, const Digests& b) {
  std::set<std::string> kinds;
  const auto compare = [&](const Digests& x, const Digests& y) {
    for (const auto& [kind, digest] : x) {
      const auto other = y.find(kind);
      if (other == y.end() || other->second != digest) kinds.insert(kind);
    }
  };
  compare(a, b);
  compare(b, a);
  return {kinds.begin(), kinds.end()};
}

}  // namespace smd::replica
