// SPDX-License-Identifier: Apache-2.0
#pragma once
// Long lists of rules in little memory: most rules of a long list name one port GUID each.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "mad/base/id.h"

namespace smd::config {

/// A rule that names a port GUID or a range of them, with nothing that needs memory of its own.
struct PackedRule {
  /// Of a rule that does not fit here: `first` is its index among those.
  static constexpr std::uint8_t kInFull = 0xff;

  Guid first{};
  Guid last{};
  std::uint32_t line = 0;
  std::uint8_t kind = kInFull;  ///< PortTermKind
  std::uint8_t origin = 0;      ///< PolicyOrigin
  std::uint8_t membership = 0;
  bool index0 = false;
  friend bool operator==(const PackedRule&, const PackedRule&) = default;
};
static_assert(sizeof(PackedRule) == 24);

/// Memory of lists of rules of whatever type.
struct PackedMemory {
  PackedMemory() = default;
  PackedMemory(const PackedMemory& other) : rules(other.rules) {}
  PackedMemory& operator=(const PackedMemory&) = delete;

  std::vector<PackedRule> rules{};
  /// More than one list has had it. shared_ptr::use_count() is no substitute: it does not order what another
  /// thread has read before it let go of its copy.
  std::atomic<bool> was_shared = false;
};

/// A list of rules that is only appended to. Its elements are values, made when they are asked for. Copies
/// share the rules until one of them is changed; they may be used by different threads, each of them as a
/// std::vector.
///
/// `Rule` has `static Rule unpacked(const PackedRule&)` and `std::optional<PackedRule> packed() const`, which
/// are each other's inverse: rules that are equal are packed alike.
template <class Rule>
class PackedRules {
 public:
  using value_type = Rule;
  using size_type = std::size_t;

  class const_iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using iterator_category = std::input_iterator_tag;
    using value_type = Rule;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Rule;

    const_iterator() = default;
    const_iterator(const PackedRules* of, std::size_t at) : of_(of), at_(at) {}
    Rule operator*() const { return (*of_)[at_]; }
    const_iterator& operator++() {
      ++at_;
      return *this;
    }
    const_iterator operator++(int) {
      auto before = *this;
      ++at_;
      return before;
    }
    friend bool operator==(const const_iterator&, const const_iterator&) = default;

   private:
    const PackedRules* of_ = nullptr;
    std::size_t at_ = 0;
  };
  using iterator = const_iterator;

  PackedRules() = default;
  PackedRules(std::initializer_list<Rule> rules) {
    for (const auto& rule : rules) push_back(rule);
  }
  PackedRules(const PackedRules& other) : packed_(other.shared()), in_full_(other.in_full_) {}
  PackedRules(PackedRules&& other) noexcept = default;
  PackedRules& operator=(const PackedRules& other) {
    if (this == &other) return *this;
    packed_ = other.shared();
    in_full_ = other.in_full_;
    return *this;
  }
  PackedRules& operator=(PackedRules&& other) noexcept = default;
  ~PackedRules() = default;

  std::size_t size() const { return packed_ ? packed_->rules.size() : 0; }
  bool empty() const { return size() == 0; }
  Rule operator[](std::size_t i) const {
    const auto& packed = packed_->rules[i];
    return packed.kind == PackedRule::kInFull ? (*in_full_)[packed.first.value()] : Rule::unpacked(packed);
  }
  /// Calls `use(const Rule&)` with rule `i`; one with memory of its own is not copied.
  template <class Use>
  void with(std::size_t i, Use use) const {
    const auto& packed = packed_->rules[i];
    if (packed.kind == PackedRule::kInFull) return use(std::as_const((*in_full_)[packed.first.value()]));
    use(Rule::unpacked(packed));
  }
  const_iterator begin() const { return {this, 0}; }
  const_iterator end() const { return {this, size()}; }
  /// Whether it takes no memory but that of its place in the list.
  bool is_packed(std::size_t i) const { return packed_->rules[i].kind != PackedRule::kInFull; }
  /// Whether the packed rules of both are one list in memory.
  template <class Other>
  bool shares_with(const PackedRules<Other>& other) const {
    return packed_ == other.packed_;
  }
  /// Takes the memory of `other` where all rules of both are packed, and alike.
  template <class Other>
  void share_equal(const PackedRules<Other>& other) {
    if (in_full_ || other.in_full_ || size() != other.size() || empty()) return;
    if (packed_->rules == other.packed_->rules) packed_ = other.shared();
  }

  /// Leaves the list empty; copies keep their rules.
  void clear() {
    packed_.reset();
    in_full_.reset();
  }
  /// Makes room for so many rules in all; nothing where it has as many.
  void reserve(std::size_t rules) {
    if (rules <= size()) return;
    own();
    packed_->rules.reserve(rules);
  }
  /// Appends `rule`. A list that shares its rules gets rules of its own first.
  void push_back(const Rule& rule) {
    own();
    auto packed = rule.packed();
    if (!packed) {
      if (!in_full_) in_full_ = std::make_shared<std::vector<Rule>>();
      packed.emplace().first = Guid{in_full_->size()};
      in_full_->push_back(rule);
    }
    packed_->rules.push_back(*packed);
  }
  /// An empty list shares the rules of `other` afterwards.
  void append(const PackedRules& other) {
    if (empty()) {
      *this = other;
      return;
    }
    reserve(size() + other.size());
    for (const auto& rule : other) push_back(rule);
  }

  friend bool operator==(const PackedRules& a, const PackedRules& b) {
    if (a.packed_ == b.packed_) return true;
    if (a.empty() || b.empty()) return a.empty() == b.empty();
    if (a.packed_->rules != b.packed_->rules) return false;
    return !a.in_full_ ||
           *a.in_full_ == *b.in_full_;  // rules that are alike are in full in both, or in neither
  }

 private:
  template <class>
  friend class PackedRules;

  std::shared_ptr<PackedMemory> shared() const {
    if (packed_) packed_->was_shared.store(true, std::memory_order_relaxed);
    return packed_;
  }
  /// What is to be changed is of no other list.
  void own() {
    if (!packed_) {
      packed_ = std::make_shared<PackedMemory>();
    } else if (packed_->was_shared.load(std::memory_order_relaxed)) {
      packed_ = std::make_shared<PackedMemory>(std::as_const(*packed_));
      if (in_full_) in_full_ = std::make_shared<std::vector<Rule>>(*in_full_);
    }
  }

  std::shared_ptr<PackedMemory> packed_{};
  std::shared_ptr<std::vector<Rule>> in_full_{};  ///< null: none; shared with packed_ only
};

}  // namespace smd::config
