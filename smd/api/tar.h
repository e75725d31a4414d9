// SPDX-License-Identifier: Apache-2.0
#pragma once
// Several files in one answer: the ustar format of POSIX, sizes from 8 GB on in GNU's binary form.

#include <array>
#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <string_view>

namespace smd::api {

inline constexpr std::size_t kTarBlock = 512;

/// The block before a file's bytes. Names of up to 100 bytes.
std::array<char, kTarBlock> tar_header(std::string_view name, std::uint64_t size);
/// Zero bytes behind a file of `size` bytes, up to the next block.
constexpr std::uint64_t tar_padding(std::uint64_t size) { return (kTarBlock - size % kTarBlock) % kTarBlock; }
/// The two blocks of zeros at the end.
inline constexpr std::size_t kTarEnd = 2 * kTarBlock;

/// Reads a stream as it comes, in pieces of any length. Foreign bytes.
class TarReader {
 public:
  struct Sink {
    std::function<std::expected<void, std::string>(const std::string& name)> begin;  ///< a file begins
    std::function<std::expected<void, std::string>(std::string_view bytes)> bytes;   ///< of that file
    std::function<std::expected<void, std::string>()> end;                           ///< it is whole
  };
  /// An error of the sink ends the reading.
  explicit TarReader(Sink sink) : sink_(std::move(sink)) {}

  /// The next bytes. Error: no tar stream of regular files as TarWriter makes it, or the sink's own.
  std::expected<void, std::string> take(std::string_view bytes);
  /// After the last piece: an error where a file was not whole.
  std::expected<void, std::string> finish() const;

 private:
  std::expected<void, std::string> header();

  Sink sink_;
  std::string block_;  ///< of a header, as far as it came
  std::uint64_t left_ = 0, padding_ = 0;
  bool in_file_ = false, ended_ = false;
};

}  // namespace smd::api
