// SPDX-License-Identifier: Apache-2.0
#include "smd/replica/cells_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <iterator>

namespace smd::replica {
namespace {

/// Takes a number and the character after it off the front.
template <class T>
bool take_number(std::string_view& text, char after, T& into) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  const auto used = static_cast<std::size_t>(end - text.data());
  if (error != std::errc{} || used >= text.size() || text[used] != after) return false;
  text.remove_prefix(used + 1);
  return true;
}

}  // namespace

std::string cells_text(const store::Cells& cells) {
  std::string text;
  for (const auto& cell : cells) {
    if (const auto* number = std::get_if<std::int64_t>(&cell)) {
      fmt::format_to(std::back_inserter(text), "i{},", *number);
    } else {
      const auto& words = std::get<std::string>(cell);
      fmt::format_to(std::back_inserter(text), "t{}:{},", words.size(), words);
    }
  }
  return text;
}

std::optional<store::Cells> cells_of(std::string_view text) {
  store::Cells cells;
  while (!text.empty()) {
    const char kind = text.front();
    text.remove_prefix(1);
    if (kind == 'i') {
      std::int64_t number = 0;
      if (!take_number(text, ',', number)) return std::nullopt;
      cells.emplace_back(number);
      continue;
    }
    std::size_t length = 0;
    if (kind != 't' || !take_number(text, ':', length)) return std::nullopt;
    if (length >= text.size() || text[length] != ',') return std::nullopt;
    cells.emplace_back(std::string(text.substr(0, length)));
    text.remove_prefix(length + 1);
  }
  return cells;
}

}  // namespace smd::replica
