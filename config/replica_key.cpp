// SPDX-License-Identifier: Apache-2.0
#include "config/replica_key.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "config/scalars.h"

namespace smd::config {
namespace {

/// Two hexadecimal digits a byte; blanks and line ends do not count.
std::optional<std::vector<std::uint8_t>> bytes_of(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (std::string_view(" \t\r\n").find(c) == std::string_view::npos) digits += c;
  }
  if (digits.size() % 2 != 0 || digits.size() < 32 || digits.size() > 512) return std::nullopt;
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const auto byte = parse_number("0x" + digits.substr(i, 2));
    if (!byte) return std::nullopt;
    bytes.push_back(static_cast<std::uint8_t>(*byte));
  }
  return bytes;
}

}  // namespace

std::expected<std::vector<std::uint8_t>, std::string> read_replica_key(const std::filesystem::path& file,
                                                                       const ConfigContext& context) {
  const auto text = context.read_secret ? context.read_secret(file) : context.read(file);
  if (!text) return std::unexpected(fmt::format("{}: {}", file.string(), text.error()));
  if (auto bytes = bytes_of(*text)) return *std::move(bytes);
  return std::unexpected(fmt::format("{}: does not hold 32 to 512 hexadecimal digits", file.string()));
}

}  // namespace smd::config
