// SPDX-License-Identifier: Apache-2.0
#pragma once
// log.warn("port.not_active").port(guid, name, port).kv("reason", why);
// writes `port.not_active subnet=a guid=0x… name=… port=3 reason="…"` when the expression ends.

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <concepts>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "config/config.h"
#include "mad/base/id.h"
#include "smd/log/filter.h"
#include "smd/log/format.h"
#include "smd/log/output.h"
#include "smd/log/record.h"
#include "smd/log/sink.h"

namespace smd::log {

class Core;

/// Where a log's time comes from; both are called from any thread.
struct Times {
  std::function<std::chrono::nanoseconds()> steady;  ///< for the counting of repetitions
  std::function<std::chrono::system_clock::time_point()> wall;
};
/// The clocks of this machine.
Times real_times();

/// A value as text: bool and numbers bare, ids as fmt prints them, all else quoted where needed.
template <class T>
Field field(std::string_view key, const T& value) {
  if constexpr (std::same_as<T, bool>) {
    return {.key = std::string(key), .value = value ? "true" : "false", .bare = true};
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return {.key = std::string(key), .value = std::string(std::string_view(value))};
  } else if constexpr (std::integral<T>) {
    return {.key = std::string(key), .value = std::to_string(value), .bare = true};
  } else if constexpr (std::floating_point<T>) {
    return {.key = std::string(key), .value = to_plain(value), .bare = std::isfinite(value)};
  } else if constexpr (std::same_as<T, PortNum> || std::same_as<T, Lid> || std::same_as<T, Sl> ||
                       std::same_as<T, Vl>) {
    return {.key = std::string(key), .value = fmt::format("{}", value), .bare = true};
  } else if constexpr (requires { std::string_view(to_string(value)); }) {
    return {.key = std::string(key), .value = std::string(to_string(value))};
  } else {
    return {.key = std::string(key), .value = fmt::format("{}", value)};
  }
}

/// A line in the making. Lives in one expression; written by its destructor.
class Event {
 public:
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event();

  /// A line about a port: GUID of the node, its name and the port's number, always together.
  Event& port(Guid node, std::string_view name, PortNum number);
  /// A line about a node.
  Event& node(Guid node, std::string_view name);

  /// Adds a field, made text by fmt at once; nothing is done where no sink takes the line.
  template <class T>
  Event& kv(std::string_view key, const T& value) {
    if (record_) record_->fields.push_back(field(key, value));
    return *this;
  }
  /// Repetitions of this line are alike in `what`, whatever its other values are.
  Event& subject(std::string_view what);
  /// Never counted instead of written: for lines that the operator asked for, or that are rare by nature.
  Event& always();
  /// An event for the sink, each of them, and no line: of what one line says about many.
  Event& event_only();

 private:
  friend class Log;
  Event(Core* core, std::string_view subnet, Level level, std::string_view event);
  Core* core_;
  std::optional<Record> record_;  ///< nothing where no sink takes it
};

/// A handle, cheap to copy; copies write to the same place. Thread-safe. A default Log drops everything.
class Log {
 public:
  Log() = default;
  /// As [log] says; an error where its target cannot be opened. Lines are written by a thread of the log, so
  /// that a target that takes none holds no caller up; beyond 4 MiB of waiting lines they are lost and
  /// counted.
  static std::expected<Log, std::string> open(const config::LogConfig& config, Times times = real_times());
  /// To an output of the caller's, for tests and for the simulator; no time in text lines.
  Log(config::LogConfig config, Output output, Times times);

  /// The same log, each line with `subnet=name`.
  Log with_subnet(std::string_view name) const;

  /// A line of this level, written by the destructor of its Event. `event`: "port.not_active".
  Event error(std::string_view event) const { return begin(Level::error, event); }
  Event warn(std::string_view event) const { return begin(Level::warn, event); }
  Event info(std::string_view event) const { return begin(Level::info, event); }
  Event debug(std::string_view event) const { return begin(Level::debug, event); }

  /// Writes the counts of repetitions whose minute is over; each written line does the same. Call it now and
  /// then, as with each light sweep.
  void tick() const;
  /// Writes all counts now, before the end, and waits for the target as long as it takes a line a second.
  void finish() const;
  /// A new [log] table, for a reload: opens the new target; the old one stays where that fails.
  std::expected<void, std::string> configure(const config::LogConfig& config) const;
  /// Which lines are written, until the next configure(); the target stays.
  void set_filter(Filter filter) const;
  /// A copy of the filter in effect; of a log without a target the default.
  Filter filter() const;
  /// In place of the sink before, for all copies of this log. One that takes nothing is none.
  void set_sink(Sink sink) const;

 private:
  Event begin(Level level, std::string_view event) const;
  std::shared_ptr<Core> core_;
  std::string subnet_;
};

}  // namespace smd::log
