// SPDX-License-Identifier: Apache-2.0
#pragma once
// Errors and warnings of a file while it is read.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "config/error.h"

namespace smd::config {

class ConfNotes {
 public:
  static constexpr std::size_t kMost = 50;  ///< errors, and warnings, that are listed

  /// `file`: its name in the errors and warnings.
  explicit ConfNotes(std::string file) : file_(std::move(file)) {}

  /// What is noted from now on is about this line; the first is 1.
  void set_line(unsigned line) { line_ = line; }
  unsigned line() const { return line_; }
  const std::string& file() const { return file_; }

  /// The line is wrong: got `found`, expected `expected`. One error for each line: what follows it in the
  /// line may be its consequence.
  void wrong(std::string_view key, std::string_view found, std::string expected, std::string hint = {});
  /// `text` says all about the line.
  void refuse(std::string_view key, std::string text, std::string hint = {});
  /// What opensm takes without a word.
  void warn(std::string_view key, std::string text, std::string hint = {});

  /// Also of those above kMost.
  bool any_errors() const { return error_count_ > 0; }
  /// In the order of lines, with one more that counts what is above kMost; empty the next time.
  std::vector<ConfigError> take_errors();
  /// The same of the warnings.
  std::vector<ConfigError> take_warnings();

 private:
  void add_error(ConfigError error);
  std::vector<ConfigError> take(std::vector<ConfigError>& list, std::size_t count,
                                std::string_view what) const;

  std::string file_;
  unsigned line_ = 0;
  unsigned last_error_line_ = 0;
  std::size_t error_count_ = 0;
  std::size_t warning_count_ = 0;
  std::vector<ConfigError> errors_{};
  std::vector<ConfigError> warnings_{};
};

}  // namespace smd::config
