// SPDX-License-Identifier: Apache-2.0
#include "config/lines.h"

#include "config/scalars.h"

namespace smd::config {
namespace {

template <class Cut>
std::vector<std::pair<unsigned, std::string_view>> split(std::string_view text, Cut cut) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::vector<std::pair<unsigned, std::string_view>> lines;
  for (unsigned number = 1;; ++number) {
    const auto end = text.find('\n');
    const auto line = trim(cut(text.substr(0, end)));
    if (!line.empty()) lines.emplace_back(number, line);
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::vector<std::pair<unsigned, std::string_view>> numbered_lines(std::string_view text) {
  return split(text, [](std::string_view line) { return line; });
}

std::vector<std::pair<unsigned, std::string_view>> lines_without_comments(std::string_view text) {
  return split(text, [](std::string_view line) { return line.substr(0, line.find('#')); });
}

}  // namespace smd::config
