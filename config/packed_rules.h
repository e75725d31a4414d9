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
  PackedRules(const PackedRules& other) : content_(other.shared()) {}
  PackedRules(PackedRules&& other) noexcept = default;
  PackedRules& operator=(const PackedRules& other) {
    content_ = other.shared();
    return *this;
  }
  PackedRules& operator=(PackedRules&& other) noexcept = default;
  ~PackedRules() = default;

  std::size_t size() const { return content_ ? content_->rules.size() : 0; }
  bool empty() const { return size() == 0; }
  Rule operator[](std::size_t i) const {
    const auto& packed = content_->rules[i];
    return packed.kind == PackedRule::kInFull ? content_->in_full[packed.first.value()]
                                              : Rule::unpacked(packed);
  }
  const_iterator begin() const { return {this, 0}; }
  const_iterator end() const { return {this, size()}; }
  /// Whether it takes no memory but that of its place in the list.
  bool is_packed(std::size_t i) const { return content_->rules[i].kind != PackedRule::kInFull; }
  /// Whether both are one list in memory.
  bool shares_with(const PackedRules& other) const { return content_ == other.content_; }

  void clear() { content_.reset(); }
  void reserve(std::size_t rules) {
    if (rules > size()) own().rules.reserve(rules);
  }
  void push_back(const Rule& rule) {
    auto& content = own();
    auto packed = rule.packed();
    if (!packed) {
      packed.emplace().first = Guid{content.in_full.size()};
      content.in_full.push_back(rule);
    }
    content.rules.push_back(*packed);
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
    if (a.content_ == b.content_) return true;
    if (a.empty() || b.empty()) return a.empty() == b.empty();
    return a.content_->rules == b.content_->rules && a.content_->in_full == b.content_->in_full;
  }

 private:
  struct Content {
    Content() = default;
    Content(const Content& other) : rules(other.rules), in_full(other.in_full) {}
    Content& operator=(const Content&) = delete;

    std::vector<PackedRule> rules{};
    std::vector<Rule> in_full{};
    /// More than one list has had it. shared_ptr::use_count() is no substitute: it does not order what
    /// another thread has read before it let go of its copy.
    std::atomic<bool> was_shared = false;
  };

  std::shared_ptr<Content> shared() const {
    if (content_) content_->was_shared.store(true, std::memory_order_relaxed);
    return content_;
  }
  Content& own() {
    if (!content_) {
      content_ = std::make_shared<Content>();
    } else if (content_->was_shared.load(std::memory_order_relaxed)) {
      content_ = std::make_shared<Content>(std::as_const(*content_));
    }
    return *content_;
  }

  std::shared_ptr<Content> content_{};
};

}  // namespace smd::config
