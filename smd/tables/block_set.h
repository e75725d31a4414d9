// SPDX-License-Identifier: Apache-2.0
#pragma once
// A set of block numbers of a table: which blocks are known, which are to be written.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace smd::sm::inline held_tables {

class BlockSet {
 public:
  BlockSet() = default;
  /// The blocks 0 to count - 1.
  static BlockSet first(std::size_t count) {
    BlockSet set;
    set.words_.assign((count + 63) / 64, ~std::uint64_t{0});
    if (count % 64 != 0) set.words_.back() = (std::uint64_t{1} << (count % 64)) - 1;
    return set;
  }
  bool test(std::size_t block) const {  ///< any number
    return block / 64 < words_.size() && (words_[block / 64] >> (block % 64) & 1) != 0;
  }
  /// O(block) memory, in bits.
  void set(std::size_t block) {
    if (block / 64 >= words_.size()) words_.resize(block / 64 + 1);
    words_[block / 64] |= std::uint64_t{1} << (block % 64);
  }
  /// Ignored where it is not in the set.
  void reset(std::size_t block) {
    if (block / 64 < words_.size()) words_[block / 64] &= ~(std::uint64_t{1} << (block % 64));
    while (!words_.empty() && words_.back() == 0) words_.pop_back();
  }
  std::size_t count() const {  ///< blocks in the set
    std::size_t n = 0;
    for (const auto word : words_) n += static_cast<std::size_t>(std::popcount(word));
    return n;
  }
  /// Every block of `other` is in this set.
  bool contains(const BlockSet& other) const {
    for (std::size_t i = 0; i < other.words_.size(); ++i) {
      if ((other.words_[i] & ~(i < words_.size() ? words_[i] : 0)) != 0) return false;
    }
    return true;
  }
  /// The blocks of this set that `other` does not have.
  BlockSet without(const BlockSet& other) const {
    auto left = *this;
    other.for_each([&](std::size_t block) { left.reset(block); });
    return left;
  }
  bool empty() const {  ///< no block is in the set
    for (const auto word : words_) {
      if (word != 0) return false;
    }
    return true;
  }
  /// Calls fn(block) in ascending order.
  void for_each(auto&& fn) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (auto word = words_[i]; word != 0; word &= word - 1) {
        fn(i * 64 + static_cast<std::size_t>(std::countr_zero(word)));
      }
    }
  }
  /// The bits, 64 blocks a word, the lowest block in the lowest bit.
  std::span<const std::uint64_t> words() const { return words_; }
  friend bool operator==(const BlockSet& a, const BlockSet& b) {
    const auto& longer = a.words_.size() >= b.words_.size() ? a.words_ : b.words_;
    const auto& shorter = a.words_.size() >= b.words_.size() ? b.words_ : a.words_;
    for (std::size_t i = 0; i < longer.size(); ++i) {
      if (longer[i] != (i < shorter.size() ? shorter[i] : 0)) return false;
    }
    return true;
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace smd::sm::inline held_tables
