// SPDX-License-Identifier: Apache-2.0
#pragma once
// Collects the errors of a file, up to a number that a person can read.

#include <fmt/format.h>

#include <string>
#include <utility>

#include "mad/base/file_error.h"

namespace smd::base {

class ErrorList {
 public:
  static constexpr std::size_t kMost = 50;
  /// Keeps the first kMost errors, counts the others. `line` from 1; 0: the whole file.
  void add(const std::string& file, unsigned line, std::string what) {
    if (++count_ <= kMost) errors_.push_back({file, line, std::move(what)});
  }
  bool empty() const { return count_ == 0; }
  /// Moves the errors out, with one line of `file` at the end for those above kMost. Once only.
  FileErrors take(const std::string& file) {
    if (count_ > kMost) errors_.push_back({file, 0, fmt::format("and {} more errors", count_ - kMost)});
    return std::move(errors_);
  }

 private:
  std::size_t count_ = 0;
  FileErrors errors_;
};

}  // namespace smd::base
