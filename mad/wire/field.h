// SPDX-License-Identifier: Apache-2.0
#pragma once
// One row of an attribute's byte layout: a name, the member that holds it, and where its bits lie; and the
// walk over all rows.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "mad/wire/bits.h"

namespace smd::wire {

/// How a field is printed. A secret never shows its value.
enum class Style : std::uint8_t { plain, hex, secret, text };

/// A member that is one number on the wire: an integer, a bool, an enum or one of base/id.h.
template <class M>
concept Scalar = std::integral<M> || std::is_enum_v<M> || requires(const M m) {
  typename M::rep;
  { m.value() } -> std::same_as<typename M::rep>;
};

/// The number of a member, as the wire has it.
template <Scalar M>
constexpr std::uint64_t to_number(M value) {
  if constexpr (requires { value.value(); }) {
    return value.value();
  } else {
    return static_cast<std::uint64_t>(value);
  }
}

/// A member from its number. Numbers that an enum has no name for are kept.
template <Scalar M>
constexpr M from_number(std::uint64_t number) {
  if constexpr (std::same_as<M, bool>) {
    return number != 0;
  } else if constexpr (requires { typename M::rep; }) {
    return M{static_cast<typename M::rep>(number)};
  } else {
    return static_cast<M>(number);
  }
}

/// Bits that a member can hold.
template <Scalar M>
constexpr std::size_t capacity() {
  if constexpr (requires { typename M::rep; }) {
    return std::numeric_limits<typename M::rep>::digits;
  } else if constexpr (std::is_enum_v<M>) {
    return std::numeric_limits<std::underlying_type_t<M>>::digits;
  } else {
    return std::numeric_limits<M>::digits;
  }
}

/// Place of a field: `count` values of `width` bits, the first at `first`, one each `stride` bits (IBA order:
/// bit 0 is the most significant bit of byte 0).
struct Place {
  std::size_t first = 0, width = 0, stride = 0, count = 1;
};

/// A field of one number.
template <class T, Scalar M>
struct NumberField {
  using Value = M;
  std::string_view name;
  M T::* member;
  Place place;
  Style style;
  /// `index` is ignored: there is one value.
  constexpr M get(const T& from, std::size_t /*index*/) const { return from.*member; }
  /// `index` is ignored: there is one value.
  constexpr void set(T& to, std::size_t /*index*/, M value) const { to.*member = value; }
};

/// A field of several numbers, in an array.
template <class T, Scalar M, std::size_t N>
struct ArrayField {
  using Value = M;
  std::string_view name;
  std::array<M, N> T::* member;
  Place place;
  Style style;
  /// `index` is below N; not checked.
  constexpr M get(const T& from, std::size_t index) const { return (from.*member)[index]; }
  /// `index` is below N; not checked.
  constexpr void set(T& to, std::size_t index, M value) const { (to.*member)[index] = value; }
};

/// One number of each struct in an array.
template <class T, class E, std::size_t N, Scalar M>
struct ElementField {
  using Value = M;
  std::string_view name;
  std::array<E, N> T::* member;
  M E::* element;
  Place place;
  Style style;
  /// `index` is below N; not checked.
  constexpr M get(const T& from, std::size_t index) const { return (from.*member)[index].*element; }
  /// `index` is below N; not checked.
  constexpr void set(T& to, std::size_t index, M value) const { (to.*member)[index].*element = value; }
};

/// A global identifier: 16 bytes, printed as one value.
template <class T, class G>
struct GidField {
  using Value = std::uint8_t;
  std::string_view name;
  G T::* member;
  Place place;
  Style style = Style::plain;
  /// `index` is below 16: the byte of the GID; not checked.
  constexpr std::uint8_t get(const T& from, std::size_t index) const { return (from.*member).bytes[index]; }
  /// `index` is below 16: the byte of the GID; not checked.
  constexpr void set(T& to, std::size_t index, std::uint8_t value) const {
    (to.*member).bytes[index] = value;
  }
};

/// Text that ends at the first NUL byte, or where its place ends.
template <class T>
struct TextField {
  std::string_view name;
  std::string T::* member;
  Place place;
};

template <class F>
inline constexpr bool kIsText = false;
template <class T>
inline constexpr bool kIsText<TextField<T>> = true;

template <class F>
inline constexpr bool kIsGid = false;
template <class T, class G>
inline constexpr bool kIsGid<GidField<T, G>> = true;
template <class F>
inline constexpr bool kIsNumber = false;
template <class T, class M>
inline constexpr bool kIsNumber<NumberField<T, M>> = true;

/// Row of one number: `first_bit` in IBA order, `width` in bits (1 to 64). `style` affects printing only.
template <class T, Scalar M>
constexpr auto field(std::string_view name, M T::* member, std::size_t first_bit, std::size_t width,
                     Style style = Style::plain) {
  return NumberField<T, M>{name, member, {first_bit, width, width, 1}, style};
}

/// `stride` 0: the values lie next to each other.
template <class T, Scalar M, std::size_t N>
constexpr auto array_field(std::string_view name, std::array<M, N> T::* member, std::size_t first_bit,
                           std::size_t width, std::size_t stride = 0, Style style = Style::plain) {
  return ArrayField<T, M, N>{name, member, {first_bit, width, stride == 0 ? width : stride, N}, style};
}

/// Row of one number of each array element: the first at `first_bit`, `width` bits, one each `stride` bits.
template <class T, class E, std::size_t N, Scalar M>
constexpr auto element_field(std::string_view name, std::array<E, N> T::* member, M E::* element,
                             std::size_t first_bit, std::size_t width, std::size_t stride) {
  return ElementField<T, E, N, M>{name, member, element, {first_bit, width, stride, N}, Style::plain};
}

/// Row of a GID or MGID: 16 bytes from `first_bit` on, a multiple of 8.
template <class T, class G>
constexpr auto gid_field(std::string_view name, G T::* member, std::size_t first_bit) {
  return GidField<T, G>{name, member, {first_bit, 8, 8, 16}};
}

/// `bytes` of text from a byte border on.
template <class T>
constexpr auto text_field(std::string_view name, std::string T::* member, std::size_t first_bit,
                          std::size_t bytes) {
  return TextField<T>{name, member, {first_bit, 8, 8, bytes}};
}

/// An attribute, or another fixed layout: a struct with a table of its fields.
template <class A>
concept Layout = requires {
  { A::kBytes } -> std::convertible_to<std::size_t>;
  A::fields();
};

/// Number of rows of the table.
template <Layout A>
inline constexpr std::size_t kFieldCount = std::tuple_size_v<decltype(A::fields())>;

/// Row I of the table, as a constant.
template <Layout A, std::size_t I>
inline constexpr auto kField = std::get<I>(A::fields());

/// Calls fn(row) for each row of the table, in its order.
template <Layout A, class Fn>
constexpr void for_each_field(Fn&& fn) {
  std::apply([&](const auto&... row) { (fn(row), ...); }, A::fields());
}

/// Calls fn(name, member pointer) for each field of one number, in the table's order.
template <Layout A, class Fn>
constexpr void for_each_scalar(Fn&& fn) {
  for_each_field<A>([&](const auto& row) {
    using Row = std::remove_cvref_t<decltype(row)>;
    if constexpr (kIsNumber<Row>) fn(row.name, row.member);
  });
}

}  // namespace smd::wire
