// SPDX-License-Identifier: Apache-2.0
#include "config/toml_reader.h"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

namespace smd::config {
namespace {

constexpr std::size_t kDeepest = 100;          // dots of one key: the library's recursion is as deep as a key
constexpr std::size_t kMostSyntaxErrors = 20;  // each costs a pass over the text
constexpr std::size_t kLongestFound = 120;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (true) {
    const auto end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

/// The rest of `line` after `characters` UTF-8 characters: the library counts columns so.
std::string_view after(std::string_view line, std::size_t characters) {
  while (characters > 0 && !line.empty()) {
    line.remove_prefix(1);
    while (!line.empty() && (static_cast<unsigned char>(line.front()) & 0xC0U) == 0x80U)
      line.remove_prefix(1);
    --characters;
  }
  return line;
}

class Converter {
 public:
  explicit Converter(const std::vector<std::string_view>& lines) : lines_(lines) {}

  Value table(const toml::table& from) const {
    Value to;
    to.kind = Value::Kind::table;
    for (const auto& [key, node] : from) {
      const auto where = std::max(key.source().begin.line, 1U);
      auto& item = to.items.emplace_back(value(node, where));
      item.key = std::string(key.str());
      item.key_line = where;
    }
    std::ranges::sort(to.items, [](const Value& a, const Value& b) {  // the library keeps keys by name
      return std::tie(a.key_line, a.key) < std::tie(b.key_line, b.key);
    });
    return to;
  }

 private:
  Value value(const toml::node& from, unsigned fallback_line) const {
    auto to = from.is_table() ? table(*from.as_table()) : Value{};
    to.line = from.source().begin.line != 0 ? from.source().begin.line : fallback_line;
    to.spelled = spelling(from);
    if (from.is_table() && !from.as_table()->is_inline()) to.spelled = "a table";
    if (from.is_array_of_tables() && !to.spelled.starts_with("[{")) to.spelled = "a list of tables";
    if (const auto* flag = from.as_boolean()) {
      to.kind = Value::Kind::flag;
      to.flag = flag->get();
    } else if (const auto* whole = from.as_integer()) {
      to.kind = Value::Kind::whole;
      to.whole = whole->get();
    } else if (const auto* text = from.as_string()) {
      to.kind = Value::Kind::text;
      to.text = text->get();
    } else if (const auto* list = from.as_array()) {
      to.kind = Value::Kind::list;
      for (const auto& item : *list) to.items.push_back(value(item, to.line));
    }
    return to;
  }

  std::string spelling(const toml::node& from) const {
    const auto [begin, end, path] = from.source();
    if (begin.line == 0 || begin.line > lines_.size() || begin.column == 0) return {};
    const auto rest = after(lines_[begin.line - 1], begin.column - 1);
    if (end.line != begin.line || end.column <= begin.column) return printable(trimmed(rest)) + "...";
    return printable(trimmed(rest.substr(0, rest.size() - after(rest, end.column - begin.column).size())));
  }

  const std::vector<std::string_view>& lines_;
};

/// A key of thousands of parts would take the library's stack with it.
std::optional<unsigned> line_of_deep_key(const std::vector<std::string_view>& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::size_t dots = 0;
    for (const char c : lines[i]) {
      if (c == '#') break;
      dots = c == '.' ? dots + 1 : (c == '=' || c == ',' || c == '{' ? 0 : dots);
      if (dots > kDeepest) return static_cast<unsigned>(i + 1);
    }
  }
  return std::nullopt;
}

bool is_redefinition(const toml::parse_error& problem) {
  return problem.description().find("redefine") != std::string_view::npos;
}

ConfigError syntax_error(const toml::parse_error& problem, const std::vector<std::string_view>& lines,
                         const std::string& file) {
  std::string_view why = problem.description();
  constexpr std::string_view kPreamble = "Error while parsing ";
  if (why.starts_with(kPreamble)) why.remove_prefix(kPreamble.size());
  const auto line = std::clamp<std::size_t>(problem.source().begin.line, 1, lines.size());
  if (is_redefinition(problem)) {
    why = "each key and each table once";
  } else if (why.find("unescaped control characters") != std::string_view::npos) {
    why = "string: the closing quote is missing";
  }
  return {.file = file,
          .line = static_cast<unsigned>(line),
          .found = fmt::format("'{}'", printable(trimmed(lines[line - 1]))),
          .expected = fmt::format("TOML ({})", printable(why))};
}

/// An error that lies in its line alone: the rest of the file can be read without that line.
bool lies_in_its_line(const toml::parse_error& problem, std::string_view line) {
  if (is_redefinition(problem)) return !trimmed(line).starts_with('[');
  return !toml::parse(line).succeeded();
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
    if (out.size() >= kLongestFound && (byte & 0xC0U) != 0xC0U && byte < 0x80) return out + "...";
  }
  return out;
}

TomlDocument read_toml(std::string_view text, const std::string& file) {
  TomlDocument document;
  auto source = std::string(text);
  const auto lines = lines_of(text);
  if (const auto line = line_of_deep_key(lines)) {
    document.errors.push_back({.file = file,
                               .line = *line,
                               .found = "a key of very many parts",
                               .expected = "a key of two or three"});
    return document;
  }
  while (document.errors.size() < kMostSyntaxErrors) {
    const auto result = toml::parse(std::string_view(source));
    if (result.succeeded()) {
      document.root = Converter(lines).table(result.table());
      return document;
    }
    const auto error = syntax_error(result.error(), lines, file);
    const auto line = lines[error.line - 1];
    const bool alone = lies_in_its_line(result.error(), line);
    // What goes wrong later because of an earlier line is no news.
    if (alone || document.errors.empty()) document.errors.push_back(error);
    const auto start = static_cast<std::size_t>(line.data() - text.data());
    if (!alone || trimmed(std::string_view(source).substr(start, line.size())).empty()) return document;
    std::fill_n(source.begin() + static_cast<std::ptrdiff_t>(start), line.size(), ' ');
  }
  return document;
}

}  // namespace smd::config
