// SPDX-License-Identifier: Apache-2.0
#include "config/import/conf_notes.h"

#include <fmt/format.h>

#include <utility>

#include "config/toml_reader.h"

namespace smd::config {

void ConfNotes::wrong(std::string_view key, std::string_view found, std::string expected, std::string hint) {
  add_error({.file = file_,
             .line = line_,
             .key = std::string(key),
             .found = fmt::format("\"{}\"", printable(found)),
             .expected = std::move(expected),
             .hint = std::move(hint)});
}

void ConfNotes::refuse(std::string_view key, std::string text, std::string hint) {
  add_error({.file = file_,
             .line = line_,
             .key = std::string(key),
             .expected = std::move(text),
             .hint = std::move(hint)});
}

void ConfNotes::warn(std::string_view key, std::string text, std::string hint) {
  if (++warning_count_ > kMost) return;
  warnings_.push_back({.file = file_,
                       .line = line_,
                       .key = std::string(key),
                       .expected = std::move(text),
                       .hint = std::move(hint)});
}

void ConfNotes::add_error(ConfigError error) {
  if (line_ != 0 && line_ == last_error_line_) return;
  last_error_line_ = line_;
  if (++error_count_ <= kMost) errors_.push_back(std::move(error));
}

std::vector<ConfigError> ConfNotes::take(std::vector<ConfigError>& list, std::size_t count,
                                         std::string_view what) const {
  if (count > kMost)
    list.push_back({.file = file_, .expected = fmt::format("and {} more {}", count - kMost, what)});
  return std::move(list);
}

std::vector<ConfigError> ConfNotes::take_errors() { return take(errors_, error_count_, "errors"); }

std::vector<ConfigError> ConfNotes::take_warnings() { return take(warnings_, warning_count_, "warnings"); }

}  // namespace smd::config
