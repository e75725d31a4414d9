// SPDX-License-Identifier: Apache-2.0
#pragma once
// Numbers (most significant byte first) and texts in a row of bytes.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smd::replica {

class Writer {
 public:
  /// Appends the number, most significant byte first.
  void u8(std::uint8_t value) { bytes_.push_back(value); }
  void u16(std::uint16_t value) { number(value, 2); }
  void u32(std::uint32_t value) { number(value, 4); }
  void u64(std::uint64_t value) { number(value, 8); }
  /// Its length in 4 bytes, then its bytes.
  void text(std::string_view value) {
    u32(static_cast<std::uint32_t>(value.size()));
    bytes_.insert(bytes_.end(), value.begin(), value.end());
  }
  /// All that was written; the Writer is empty from then on.
  std::vector<std::uint8_t> bytes() && { return std::move(bytes_); }

 private:
  void number(std::uint64_t value, unsigned bytes) {
    for (unsigned i = bytes; i-- > 0;) bytes_.push_back(static_cast<std::uint8_t>(value >> (8U * i)));
  }
  std::vector<std::uint8_t> bytes_;
};

/// What is not there reads as 0, and good() is false from then on.
class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> bytes) : rest_(bytes) {}
  /// The next number, most significant byte first.
  std::uint8_t u8() { return static_cast<std::uint8_t>(number(1)); }
  std::uint16_t u16() { return static_cast<std::uint16_t>(number(2)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
  std::uint64_t u64() { return number(8); }
  /// One byte of 0 or 1; another value fails.
  bool flag() {
    const auto value = u8();
    if (value > 1) fail();
    return value == 1;
  }
  /// As Writer::text() has written it; empty where it is longer than the rest.
  std::string text() {
    const auto length = u32();
    if (length > rest_.size()) {
      fail();
      return {};
    }
    std::string value(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(length));
    rest_ = rest_.subspan(length);
    return value;
  }
  /// What was read makes no sense: good() is false from now on, and nothing more is there.
  void fail() {
    good_ = false;
    rest_ = {};
  }
  void skip() { rest_ = {}; }  ///< the rest is of no interest
  bool good() const { return good_; }
  bool at_end() const { return rest_.empty(); }

 private:
  std::uint64_t number(std::size_t bytes) {
    if (bytes > rest_.size()) {
      fail();
      return 0;
    }
    std::uint64_t value = 0;
    for (const auto byte : rest_.first(bytes)) value = value << 8U | byte;
    rest_ = rest_.subspan(bytes);
    return value;
  }
  std::span<const std::uint8_t> rest_;
  bool good_ = true;
};

}  // namespace smd::replica
