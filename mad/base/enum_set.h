// SPDX-License-Identifier: Apache-2.0
#pragma once
// A set of values of an enumeration, in one word.

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

namespace smd::base {

/// E's enumerators are 0 to 31. A value type; iteration is by ascending enumerator. Inserting what is there
/// and erasing what is not change nothing.
template <class E>
  requires std::is_enum_v<E>
class EnumSet {
 public:
  constexpr EnumSet() = default;
  constexpr EnumSet(std::initializer_list<E> values) {
    for (const auto value : values) insert(value);
  }

  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool contains(E value) const { return (bits_ & bit(value)) != 0; }
  constexpr void insert(E value) { bits_ |= bit(value); }
  constexpr void insert(EnumSet other) { bits_ |= other.bits_; }
  constexpr void erase(E value) { bits_ &= ~bit(value); }
  constexpr void erase(EnumSet other) { bits_ &= ~other.bits_; }

  friend constexpr EnumSet operator|(EnumSet a, EnumSet b) { return EnumSet(a.bits_ | b.bits_); }
  friend constexpr EnumSet operator&(EnumSet a, EnumSet b) { return EnumSet(a.bits_ & b.bits_); }
  friend constexpr bool operator==(EnumSet, EnumSet) = default;

  class Iterator {
   public:
    constexpr explicit Iterator(std::uint32_t rest) : rest_(rest) {}
    constexpr E operator*() const { return static_cast<E>(std::countr_zero(rest_)); }
    constexpr Iterator& operator++() {
      rest_ &= rest_ - 1;
      return *this;
    }
    friend constexpr bool operator==(Iterator, Iterator) = default;

   private:
    std::uint32_t rest_;
  };
  constexpr Iterator begin() const { return Iterator(bits_); }
  constexpr Iterator end() const { return Iterator(0); }

 private:
  constexpr explicit EnumSet(std::uint32_t bits) : bits_(bits) {}
  static constexpr std::uint32_t bit(E value) { return std::uint32_t{1} << static_cast<unsigned>(value); }

  std::uint32_t bits_ = 0;
};

}  // namespace smd::base
