// SPDX-License-Identifier: Apache-2.0
#pragma once
// Component masks: which bits of a record a question asks for.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace smd::sa {

/// One component of a record: bits of it. Width 0 is never compared (reserved, or a selector).
struct Component {
  std::uint16_t first = 0, width = 0;
};

using Components = std::span<const Component>;

/// Components that lie one behind the other, by their widths; a negative one is a gap that has a bit of the
/// mask and is not compared.
template <int... Widths>
consteval auto consecutive() {
  std::array<Component, sizeof...(Widths)> all{};
  std::size_t i = 0;
  unsigned at = 0;
  const auto add = [&](int width) {
    const auto bits = static_cast<unsigned>(width < 0 ? -width : width);
    all[i++] = {static_cast<std::uint16_t>(at), static_cast<std::uint16_t>(width < 0 ? 0 : bits)};
    at += bits;
  };
  (add(Widths), ...);
  return all;
}

/// What a record must look like, byte by byte.
class Pattern {
 public:
  /// Of a question's data, which may be shorter than the record: what is not there is 0. Bits of the mask
  /// that have no component are ignored, as OpenSM does.
  Pattern(Components components, std::uint64_t mask, std::span<const std::uint8_t> data);

  /// The record may have more bits set in this component than the question: bits that are 0 in the question
  /// are not compared. Nothing happens where the component does not count. Only its whole bytes are looked
  /// at.
  void only_ones_of(const Component& component);

  bool any() const { return bytes_.empty(); }  ///< every record matches
  /// All components that count are equal; false where the record is too short for one.
  bool matches(std::span<const std::uint8_t> record) const;

 private:
  struct Byte {
    std::uint16_t at = 0;
    std::uint8_t mask = 0, value = 0;
  };
  std::vector<Byte> bytes_;  ///< those that count
};

}  // namespace smd::sa
