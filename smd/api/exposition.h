// SPDX-License-Identifier: Apache-2.0
#pragma once
// The text format of Prometheus (version 0.0.4), family by family.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace smd::api {

class Exposition {
 public:
  using Label = std::pair<std::string_view, std::string_view>;
  enum class Kind : std::uint8_t { gauge, counter };

  /// `families`: these alone; empty: all.
  explicit Exposition(std::set<std::string, std::less<>> families) : families_(std::move(families)) {}

  /// Whether the query asks for this family.
  bool wants(std::string_view family) const { return families_.empty() || families_.contains(family); }
  /// The samples that follow are of this one; once for each name. False: it was not asked for.
  bool family(std::string_view name, Kind kind, std::string_view help);
  /// One line. Labels with an empty name are left out; values of labels may be any bytes.
  void sample(std::initializer_list<Label> labels, double value);
  /// Whole families that are written already.
  void append(std::string_view families) { text_ += families; }
  /// Bytes that take() would give.
  std::size_t size() const { return text_.size(); }
  /// What was written since the last call.
  std::string take() { return std::exchange(text_, {}); }

 private:
  std::set<std::string, std::less<>> families_;
  std::string name_;  ///< empty: the family is not wanted
  std::string text_;
};

}  // namespace smd::api
