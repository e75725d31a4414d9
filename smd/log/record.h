// SPDX-License-Identifier: Apache-2.0
#pragma once
// One thing to say: an event and its fields, before it is text.

#include <string>
#include <vector>

#include "config/config.h"
#include "mad/base/id.h"

namespace smd::log {

using Level = config::LogLevel;

struct Field {
  std::string key{};
  std::string value{};
  bool bare = false;  ///< a number, true or false: JSON writes it without quotes
  friend bool operator==(const Field&, const Field&) = default;
};

struct Record {
  Level level = Level::info;
  std::string event{};   ///< "port.not_active"; what stands before the first dot is the module
  std::string subnet{};  ///< empty where the line is about the process
  std::vector<Field> fields{};
  std::string subject{};      ///< node and port that the line is about; lines alike in it are one message
  std::vector<Guid> guids{};  ///< for the filter by GUID
  bool always = false;        ///< never suppressed as a repetition
  bool event_only = false;    ///< for the sink alone: a line about several has said it

  /// "port" of "port.not_active"; all of it without a dot.
  std::string_view module() const { return std::string_view(event).substr(0, event.find('.')); }
  friend bool operator==(const Record&, const Record&) = default;
};

}  // namespace smd::log
