// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/state/words.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace smd::sim {

std::expected<Words, std::string> split_words(std::string_view text) {
  Words words;
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == ' ' || text[at] == '\t' || text[at] == '\r') {
      ++at;
      continue;
    }
    const bool quoted = text[at] == '"';
    if (quoted) ++at;
    const auto end = quoted ? text.find('"', at) : std::min(text.find_first_of(" \t\r", at), text.size());
    if (end == std::string_view::npos)
      return std::unexpected(std::string("found a quotation mark without its end, allowed \"NAME\""));
    words.emplace_back(text.substr(at, end - at));
    at = quoted ? end + 1 : end;
  }
  return words;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kMost = 80;
  std::string shown = "\"";
  for (const auto c : text.substr(0, kMost)) {
    const auto byte = static_cast<unsigned char>(c);
    shown += byte < 0x20 || byte == 0x7F ? '?' : c;
  }
  return shown + (text.size() > kMost ? "\"…" : "\"");
}

/// A whole number, decimal or with 0x.
std::optional<std::uint64_t> whole(std::string_view text, std::uint64_t most) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value > most)
    return std::nullopt;
  return value;
}

std::optional<double> number(std::string_view text, double most) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(value) || value < 0 || value > most) return std::nullopt;
  return value;
}

}  // namespace smd::sim
