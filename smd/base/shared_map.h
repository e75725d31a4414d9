// SPDX-License-Identifier: Apache-2.0
#pragma once
// A sorted map of which many versions live side by side: a copy is cheap, and what two versions have in
// common is there once.

#include <algorithm>
#include <compare>
#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace smd::sm::inline common {

/// Rows lie in leaves that are never changed: a change copies one leaf. Copies may be read by any thread
/// while another one is changed.
template <class Key, class Value>
class SharedMap {
 public:
  using Row = std::pair<Key, Value>;
  using Leaf = std::vector<Row>;

  class Iterator {
   public:
    using value_type = Row;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::forward_iterator_tag;
    using pointer = const Row*;
    using reference = const Row&;
    Iterator() = default;
    const Row& operator*() const { return (**leaf_)[at_]; }
    const Row* operator->() const { return &**this; }
    Iterator& operator++() {
      if (++at_ == (*leaf_)->size()) {
        ++leaf_;
        at_ = 0;
      }
      return *this;
    }
    Iterator operator++(int) {
      auto before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    friend class SharedMap;
    using LeafIterator = typename std::vector<std::shared_ptr<const Leaf>>::const_iterator;
    Iterator(LeafIterator leaf, std::size_t at) : leaf_(leaf), at_(at) {}
    LeafIterator leaf_{};
    std::size_t at_ = 0;
  };

  /// Ascending keys. Iterators are valid until this map is changed; other versions do not matter.
  Iterator begin() const { return {leaves_.begin(), 0}; }
  /// The end of begin()'s range.
  Iterator end() const { return {leaves_.end(), 0}; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  /// Rows by place, for readers that look at some at a time: not every place has one.
  std::size_t places() const { return leaves_.size() * kLeaf; }
  /// Null where the place has no row. `place` is below places().
  const Row* at(std::size_t place) const {
    const auto& leaf = *leaves_[place / kLeaf];
    return place % kLeaf < leaf.size() ? &leaf[place % kLeaf] : nullptr;
  }

  /// The first row that is not before `key`.
  Iterator lower_bound(const Key& key) const {
    const auto leaf =
        std::ranges::partition_point(leaves_, [&](const LeafPtr& one) { return one->back().first < key; });
    if (leaf == leaves_.end()) return end();
    return {leaf, static_cast<std::size_t>(place(**leaf, key) - (*leaf)->begin())};
  }
  /// Null where it has none. Valid as long as a version that has the row lives unchanged.
  const Value* find(const Key& key) const {
    const auto row = lower_bound(key);
    return row != end() && row->first == key ? &row->second : nullptr;
  }
  /// Whether the key has a row. O(log n).
  bool contains(const Key& key) const { return find(key) != nullptr; }

  /// Adds or replaces a row; copies one leaf of at most 64 rows.
  void put(const Key& key, Value value) {
    if (leaves_.empty()) {
      leaves_.push_back(std::make_shared<const Leaf>(Leaf{{key, std::move(value)}}));
      size_ = 1;
      return;
    }
    const auto index = leaf_of(key);
    auto rows = *leaves_[index];
    const auto row = place(rows, key);
    if (row != rows.end() && row->first == key) {
      row->second = std::move(value);
    } else {
      rows.insert(row, {key, std::move(value)});
      ++size_;
    }
    replace(index, std::move(rows));
  }

  /// False where it has no such row; copies one leaf.
  bool erase(const Key& key) {
    if (!contains(key)) return false;
    const auto index = leaf_of(key);
    auto rows = *leaves_[index];
    rows.erase(place(rows, key));
    --size_;
    replace(index, std::move(rows));
    return true;
  }

  /// Calls change(key, value now or null) for each row by which `now` differs from `before`, in the order of
  /// the keys. What they share is passed over.
  template <class Change>
  static void difference(const SharedMap& before, const SharedMap& now, Change&& change) {
    auto old = before.begin();
    auto row = now.begin();
    while (old != before.end() || row != now.end()) {
      if (old != before.end() && row != now.end() && old.at_ == 0 && row.at_ == 0 &&
          *old.leaf_ == *row.leaf_) {
        ++old.leaf_;
        ++row.leaf_;
        continue;
      }
      if (row == now.end() || (old != before.end() && old->first < row->first)) {
        change(old->first, static_cast<const Value*>(nullptr));
        ++old;
        continue;
      }
      const bool there = old != before.end() && old->first == row->first;
      if (!there || !(old->second == row->second)) change(row->first, &row->second);
      if (there) ++old;
      ++row;
    }
  }

  friend bool operator==(const SharedMap& a, const SharedMap& b) {
    return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
  }

 private:
  using LeafPtr = std::shared_ptr<const Leaf>;
  static constexpr std::size_t kLeaf = 64;  ///< rows at most

  template <class Rows>
  static auto place(Rows& rows, const Key& key) {
    return std::ranges::lower_bound(rows, key, {}, &Row::first);
  }
  /// Of the leaf that has the key, or would have it; there is one at least.
  std::size_t leaf_of(const Key& key) const {
    const auto leaf =
        std::ranges::partition_point(leaves_, [&](const LeafPtr& one) { return one->back().first < key; });
    return std::min(static_cast<std::size_t>(leaf - leaves_.begin()), leaves_.size() - 1);
  }
  void replace(std::size_t index, Leaf rows) {
    const auto at = leaves_.begin() + static_cast<std::ptrdiff_t>(index);
    if (rows.empty()) {
      leaves_.erase(at);
      return;
    }
    if (rows.size() > kLeaf) {
      const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2);
      leaves_.insert(std::next(at), std::make_shared<const Leaf>(middle, rows.end()));
      rows.erase(middle, rows.end());
    }
    leaves_[index] = std::make_shared<const Leaf>(std::move(rows));
  }

  std::vector<LeafPtr> leaves_;  ///< ascending, none empty
  std::size_t size_ = 0;
};

}  // namespace smd::sm::inline common
