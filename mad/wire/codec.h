// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is made from an attribute's table: decode, encode, compare, and the check of the table.
// (Text: mad/wire/print.h, random values: mad/wire/random.h.)

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mad/base/bug.h"
#include "mad/wire/field.h"

namespace smd::wire {

namespace detail {

/// Calls fn once for each index of the sequence, in order, with the index as an integral_constant.
template <Layout A, class Fn, std::size_t... I>
constexpr void for_each_index(Fn&& fn, std::index_sequence<I...> /*rows*/) {
  (fn(std::integral_constant<std::size_t, I>{}), ...);
}
/// As for_each_field, but fn gets the row's index as a constant, so that kField<A, index> is one too.
template <Layout A, class Fn>
constexpr void for_each_index(Fn&& fn) {
  for_each_index<A>(std::forward<Fn>(fn), std::make_index_sequence<kFieldCount<A>>{});
}

/// Calls fn(index, byte, phase constant) for each value of a place.
template <std::size_t First, std::size_t Stride, std::size_t Count, class Fn>
constexpr void for_each_value(Fn&& fn) {
  if constexpr (Stride % 8 == 0 || Count == 1) {
    for (std::size_t i = 0; i < Count; ++i) {
      fn(i, First / 8 + i * (Stride / 8), std::integral_constant<std::size_t, First % 8>{});
    }
  } else {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (fn(I, (First + I * Stride) / 8, std::integral_constant<std::size_t, (First + I * Stride) % 8>{}), ...);
    }(std::make_index_sequence<Count>{});
  }
}

/// Reads row I of A's table. `from` has at least A::kBytes readable bytes; a text ends at its first NUL.
template <Layout A, std::size_t I>
constexpr void decode_field(A& to, const std::uint8_t* from) {
  constexpr auto kRow = kField<A, I>;
  constexpr Place kPlace = kRow.place;
  if constexpr (kIsText<std::remove_const_t<decltype(kRow)>>) {
    const std::uint8_t* text = from + kPlace.first / 8;
    std::size_t length = 0;
    while (length < kPlace.count && text[length] != 0) ++length;
    (to.*kRow.member).assign(text, text + length);
  } else {
    using Value = typename std::remove_const_t<decltype(kRow)>::Value;
    for_each_value<kPlace.first, kPlace.stride, kPlace.count>(
        [&](std::size_t i, std::size_t byte, auto phase) {
          kRow.set(to, i, from_number<Value>(load<decltype(phase)::value, kPlace.width>(from + byte)));
        });
  }
}

/// Writes row I of A's table and no other bits. `to` has at least A::kBytes bytes. A number loses the bits
/// above its width; a text is cut at its place or filled up with NULs.
template <Layout A, std::size_t I>
constexpr void encode_field(const A& from, std::uint8_t* to) {
  constexpr auto kRow = kField<A, I>;
  constexpr Place kPlace = kRow.place;
  if constexpr (kIsText<std::remove_const_t<decltype(kRow)>>) {
    const std::string& text = from.*kRow.member;
    for (std::size_t i = 0; i < kPlace.count; ++i) {
      to[kPlace.first / 8 + i] = i < text.size() ? static_cast<std::uint8_t>(text[i]) : std::uint8_t{0};
    }
  } else {
    for_each_value<kPlace.first, kPlace.stride, kPlace.count>(
        [&](std::size_t i, std::size_t byte, auto phase) {
          store<decltype(phase)::value, kPlace.width>(to + byte, to_number(kRow.get(from, i)));
        });
  }
}

}  // namespace detail

/// Reads an attribute from its bytes, whatever they are; nothing where there are fewer than kBytes.
template <Layout A>
constexpr std::optional<A> decode(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < A::kBytes) return std::nullopt;
  A attribute;
  detail::for_each_index<A>([&](auto i) { detail::decode_field<A, i>(attribute, bytes.data()); });
  return attribute;
}

/// Writes the fields over what is there: bits that the table does not name stay as they are. `bytes` has at
/// least kBytes. A value too large for its field loses its upper bits, a text its end.
template <Layout A>
constexpr void encode_over(const A& attribute, std::span<std::uint8_t> bytes) {
  SMD_ASSERT(bytes.size() >= A::kBytes);
  detail::for_each_index<A>([&](auto i) { detail::encode_field<A, i>(attribute, bytes.data()); });
}

/// As encode_over, with all other bits of the kBytes 0.
template <Layout A>
constexpr void encode(const A& attribute, std::span<std::uint8_t> bytes) {
  SMD_ASSERT(bytes.size() >= A::kBytes);
  for (std::size_t i = 0; i < A::kBytes; ++i) bytes[i] = 0;
  encode_over(attribute, bytes);
}

/// The attribute's bytes as a value.
template <Layout A>
constexpr std::array<std::uint8_t, A::kBytes> encoded(const A& attribute) {
  std::array<std::uint8_t, A::kBytes> bytes{};
  encode_over(attribute, bytes);
  return bytes;
}

/// Names of the fields in which two attributes differ, in the table's order.
template <Layout A>
std::vector<std::string_view> differences(const A& one, const A& other) {
  std::vector<std::string_view> names;
  for_each_field<A>([&](const auto& row) {
    if constexpr (kIsText<std::remove_cvref_t<decltype(row)>>) {
      if (one.*row.member != other.*row.member) names.push_back(row.name);
    } else {
      bool equal = true;
      for (std::size_t i = 0; i < row.place.count; ++i) equal = equal && row.get(one, i) == row.get(other, i);
      if (!equal) names.push_back(row.name);
    }
  });
  return names;
}

/// True where each field lies inside kBytes, none over another, and each fits its member.
template <Layout A>
consteval bool well_formed() {
  std::array<bool, A::kBytes * 8> taken{};
  bool good = true;
  for_each_field<A>([&](const auto& row) {
    const Place& place = row.place;
    good = good && place.width >= 1 && place.width <= 64 && place.stride >= place.width;
    if constexpr (kIsText<std::remove_cvref_t<decltype(row)>>) {
      good = good && place.first % 8 == 0;
    } else {
      good = good && place.width <= capacity<typename std::remove_cvref_t<decltype(row)>::Value>();
    }
    if (!good || place.first + (place.count - 1) * place.stride + place.width > taken.size()) {
      good = false;
      return;
    }
    for (std::size_t i = 0; i < place.count; ++i) {
      for (std::size_t bit = 0; bit < place.width; ++bit) {
        bool& here = taken[place.first + i * place.stride + bit];
        good = good && !here;
        here = true;
      }
    }
  });
  return good;
}

}  // namespace smd::wire
