// SPDX-License-Identifier: Apache-2.0
#pragma once
// The fields of a log event in one piece of memory: a ring holds 100,000 of them.

#include <cstddef>
#include <string>
#include <vector>

#include "smd/log/record.h"

namespace smd::events {

/// Keys and values in the order of the log line; any bytes.
class PackedFields {
 public:
  PackedFields() = default;
  /// Copies keys and values.
  explicit PackedFields(const std::vector<log::Field>& fields);

  /// The fields that this was made of.
  std::vector<log::Field> unpack() const;
  /// Heap memory.
  std::size_t bytes() const { return packed_.capacity(); }
  friend bool operator==(const PackedFields&, const PackedFields&) = default;

 private:
  std::string packed_;  ///< of each field: bare, length of the key, length of the value, key, value
};

}  // namespace smd::events
