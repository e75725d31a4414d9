// SPDX-License-Identifier: Apache-2.0
#pragma once
// An attribute as text, from its table: "NodeType=switch NumPorts=36 NodeGUID=0x0002c90000000010 …".

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "mad/base/gid.h"
#include "mad/base/link.h"
#include "mad/wire/codec.h"

namespace smd::wire {
namespace detail {

/// Appends `number`: decimal, or with Style::hex "0x" and (width + 3) / 4 digits; `width` in bits.
void append_number(std::string& out, std::uint64_t number, std::size_t width, Style style);
/// Appends `text` in double quotes. Control characters become \xNN, quotes and backslashes get a backslash:
/// the text comes from the fabric.
void append_quoted(std::string& out, std::string_view text);

/// Appends an enum by its name ("unknown(7)" where it has none), an Id as fmt prints it, else a number.
template <Scalar M>
void append_value(std::string& out, M value, std::size_t width, Style style) {
  if constexpr (requires { to_string(value); }) {
    const std::string_view name = to_string(value);
    out += name;
    if (name == "unknown") fmt::format_to(std::back_inserter(out), "({})", to_number(value));
  } else if constexpr (requires { value.value(); }) {
    fmt::format_to(std::back_inserter(out), "{}", value);
  } else {
    append_number(out, to_number(value), width, style);
  }
}

}  // namespace detail

/// One line of "Name=value", in the table's order. Values of arrays are joined by ',', runs of one value are
/// written as "value*count". Bytes that are text stand in quotes without the zeros at their end. Keys are
/// never shown.
template <Layout A>
std::string print(const A& attribute) {
  std::string out;
  for_each_field<A>([&](const auto& row) {
    if (!out.empty()) out += ' ';
    out += row.name;
    out += '=';
    if constexpr (kIsText<std::remove_cvref_t<decltype(row)>>) {
      detail::append_quoted(out, attribute.*row.member);
    } else if constexpr (kIsGid<std::remove_cvref_t<decltype(row)>>) {
      out += to_string(attribute.*row.member);
    } else if (row.style == Style::secret) {
      bool zero = true;
      for (std::size_t i = 0; i < row.place.count; ++i) zero = zero && to_number(row.get(attribute, i)) == 0;
      out += zero ? "0" : "(hidden)";
    } else if (row.style == Style::text) {
      std::string text;
      std::size_t end = 0;
      for (std::size_t i = 0; i < row.place.count; ++i) {
        const auto byte = to_number(row.get(attribute, i));
        text += static_cast<char>(byte);
        if (byte != 0) end = i + 1;
      }
      detail::append_quoted(out, std::string_view(text).substr(0, end));
    } else {
      for (std::size_t i = 0; i < row.place.count;) {
        const auto value = row.get(attribute, i);
        std::size_t run = 1;
        while (i + run < row.place.count && row.get(attribute, i + run) == value) ++run;
        if (i != 0) out += ',';
        detail::append_value(out, value, row.place.width, row.style);
        if (run > 1) fmt::format_to(std::back_inserter(out), "*{}", run);
        i += run;
      }
    }
  });
  return out;
}

}  // namespace smd::wire
