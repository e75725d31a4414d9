// SPDX-License-Identifier: Apache-2.0
// Offsets and widths as in POSIX' pax, "ustar Interchange Format".
#include "smd/api/tar.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace smd::api {
namespace {

constexpr std::size_t kNameBytes = 100, kSizeAt = 124, kSizeBytes = 12, kSumAt = 148, kSumBytes = 8;

unsigned sum_of(std::string_view block) {
  unsigned sum = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const bool own = i >= kSumAt && i < kSumAt + kSumBytes;
    sum += own ? ' ' : static_cast<unsigned char>(block[i]);
  }
  return sum;
}

void put(std::array<char, kTarBlock>& block, std::size_t at, std::string_view text) {
  std::ranges::copy(text, block.begin() + static_cast<std::ptrdiff_t>(at));
}

void put_size(std::array<char, kTarBlock>& block, std::uint64_t size) {
  constexpr std::uint64_t kOctal = 1ULL << 33U;  // 11 octal digits
  if (size < kOctal) return put(block, kSizeAt, fmt::format("{:011o}", size));
  block[kSizeAt] = static_cast<char>(0x80);
  for (std::size_t i = 0; i < 8; ++i)
    block[kSizeAt + kSizeBytes - 1 - i] = static_cast<char>((size >> (8 * i)) & 0xFFU);
}

std::optional<std::uint64_t> octal(std::string_view field) {
  std::uint64_t value = 0;
  if (!field.empty() && field[0] == static_cast<char>(0x80)) {
    for (const char c : field.substr(4)) value = value << 8U | static_cast<unsigned char>(c);
    return value;
  }
  field = field.substr(0, field.find_first_of(std::string_view(" \0", 2)));
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value, 8);
  if (error != std::errc{} || end != field.data() + field.size()) return std::nullopt;
  return value;
}

}  // namespace

std::array<char, kTarBlock> tar_header(std::string_view name, std::uint64_t size) {
  std::array<char, kTarBlock> block{};
  put(block, 0, name.substr(0, kNameBytes));
  put(block, 100, "0000644");  // mode
  put(block, 108, "0000000");  // user
  put(block, 116, "0000000");  // group
  put_size(block, size);
  put(block, 136, "00000000000");  // time of change
  block[156] = '0';                // an ordinary file
  put(block, 257, std::string_view("ustar\00000", 8));
  put(block, kSumAt, fmt::format("{:06o}", sum_of({block.data(), block.size()})));
  block[kSumAt + 7] = ' ';
  return block;
}

std::expected<void, std::string> TarReader::header() {
  const std::string_view block = block_;
  if (block.find_first_not_of('\0') == std::string_view::npos) {
    ended_ = true;
    return {};
  }
  const auto sum = octal(block.substr(kSumAt, kSumBytes));
  const auto size = octal(block.substr(kSizeAt, kSizeBytes));
  if (!sum || *sum != sum_of(block) || !size || (block[156] != '0' && block[156] != '\0'))
    return std::unexpected("the answer is no tar stream of files");
  left_ = *size;
  padding_ = tar_padding(*size);
  in_file_ = true;
  const auto name = block.substr(0, kNameBytes);
  return sink_.begin(std::string(name.substr(0, name.find('\0'))));
}

std::expected<void, std::string> TarReader::take(std::string_view bytes) {
  while (!bytes.empty() && !ended_) {
    if (in_file_) {
      const auto piece = bytes.substr(0, std::min<std::uint64_t>(left_, bytes.size()));
      if (auto taken = sink_.bytes(piece); !taken) return taken;
      left_ -= piece.size();
      bytes.remove_prefix(piece.size());
    } else if (padding_ != 0) {
      const auto skipped = std::min<std::uint64_t>(padding_, bytes.size());
      padding_ -= skipped;
      bytes.remove_prefix(skipped);
    } else {
      const auto piece = bytes.substr(0, kTarBlock - block_.size());
      block_ += piece;
      bytes.remove_prefix(piece.size());
      if (block_.size() < kTarBlock) return {};
      if (auto taken = header(); !taken) return taken;
      block_.clear();
    }
    if (in_file_ && left_ == 0) {
      in_file_ = false;
      if (auto taken = sink_.end(); !taken) return taken;
    }
  }
  return {};
}

std::expected<void, std::string> TarReader::finish() const {
  if (ended_) return {};
  return std::unexpected("the answer ended too early");
}

}  // namespace smd::api
