// SPDX-License-Identifier: Apache-2.0
#include "config/document_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace smd::config {
namespace {

constexpr std::size_t kWidth = 98;

}  // namespace

std::string wrapped(std::string_view text, std::string_view lead) {
  std::string out;
  std::string line;
  const auto flush = [&] {
    out += fmt::format("{}{}\n", lead, line);
    line.clear();
  };
  while (!text.empty()) {
    const auto word = text.substr(0, text.find(' '));
    if (!line.empty() && lead.size() + line.size() + 1 + word.size() > kWidth) flush();
    line += line.empty() ? "" : " ";
    line += word;
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  flush();
  return out;
}

std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool first = out.empty() || out.back() == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '`') {
      out += '"';
    } else {
      if (first && (c == '.' || c == '\'')) out += "\\&";
      out += c;
    }
  }
  return out;
}

}  // namespace smd::config
