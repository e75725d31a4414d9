// SPDX-License-Identifier: Apache-2.0
#pragma once
// What every fuzz target of an attribute does: any bytes decode, print, encode, and decode again to the same.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "mad/wire/codec.h"
#include "mad/wire/print.h"

namespace smd::fuzz {

/// Ends the process where the promise is broken, so that the fuzzer keeps the input.
inline void demand(bool kept) {
  if (!kept) std::abort();
}

template <wire::Layout A>
void attribute(std::span<const std::uint8_t> bytes) {
  const auto first = wire::decode<A>(bytes);
  demand(first.has_value() == (bytes.size() >= A::kBytes));
  if (!first) return;
  demand(!wire::print(*first).empty());
  std::array<std::uint8_t, A::kBytes> encoded;
  wire::encode(*first, encoded);
  demand(encoded == wire::encoded(*first));
  const auto second = wire::decode<A>(encoded);
  demand(second == first);
  demand(wire::differences(*first, *second).empty());
  wire::for_each_scalar<A>([&](std::string_view name, auto member) {
    demand(!name.empty() && wire::to_number((*first).*member) == wire::to_number((*second).*member));
  });
}

}  // namespace smd::fuzz

/// The whole of a fuzz target for the attribute A.
#define SMD_FUZZ_ATTRIBUTE(A)                                                         \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) { \
    smd::fuzz::attribute<A>({data, size});                                            \
    return 0;                                                                         \
  }
