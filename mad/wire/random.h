// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random values of an attribute, from its table: for property tests, fuzzing and simulated nodes.

#include <cstdint>
#include <string>
#include <type_traits>

#include "mad/wire/field.h"

namespace smd::wire {

/// Any value that the wire can carry. `Generator` is a uniform random bit generator of at least 32 bits.
template <Layout A, class Generator>
A random(Generator& generator) {
  const auto bits = [&] {
    const auto high = static_cast<std::uint64_t>(generator());
    return (high << 32U) ^ static_cast<std::uint64_t>(generator());
  };
  A attribute;
  for_each_field<A>([&](const auto& row) {
    if constexpr (kIsText<std::remove_cvref_t<decltype(row)>>) {
      std::string& text = attribute.*row.member;
      text.resize(bits() % (row.place.count + 1));
      for (char& c : text) c = static_cast<char>(bits() % 255 + 1);
    } else {
      using Value = typename std::remove_cvref_t<decltype(row)>::Value;
      for (std::size_t i = 0; i < row.place.count; ++i) {
        row.set(attribute, i, from_number<Value>(bits() & low_bits(row.place.width)));
      }
    }
  });
  return attribute;
}

}  // namespace smd::wire
