// SPDX-License-Identifier: Apache-2.0
#include "smd/log/core.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "smd/log/format.h"

namespace smd::log {

Core::Core(config::LogConfig config, Output output, Times times, Stamp stamp)
    : widest_(config.level),
      config_(std::move(config)),
      output_(std::move(output)),
      times_(std::move(times)),
      stamp_(stamp) {
  narrow();
}

Core::~Core() { finish(); }

/// A filter by module or GUID lets debug lines through to `wanted`, which sees what they are about.
void Core::narrow() {
  const bool some = !config_.modules.empty() || !config_.guids.empty();
  widest_.store(some ? Level::debug : config_.level, std::memory_order_relaxed);
}

bool Core::wanted(const Record& record) const {
  if (record.level <= config_.level) return true;
  if (std::ranges::find(config_.modules, record.module()) != config_.modules.end()) return true;
  return std::ranges::any_of(
      record.guids, [&](Guid guid) { return std::ranges::find(config_.guids, guid) != config_.guids.end(); });
}

void Core::write(const Record& record) {
  const std::scoped_lock guard(lock_);
  if (!wanted(record)) return;
  const auto now = times_.steady();
  for (const auto& count : repetitions_.due(now)) emit(count);
  // Debug lines were asked for, one by one; counting them would hide what is looked for.
  if (record.always || record.level == Level::debug || repetitions_.admit(record, now)) emit(record);
}

void Core::tick() {
  const std::scoped_lock guard(lock_);
  for (const auto& count : repetitions_.due(times_.steady())) emit(count);
}

void Core::finish() {
  const std::scoped_lock guard(lock_);
  for (const auto& count : repetitions_.drain()) emit(count);
}

void Core::emit(const Record& record) {
  const bool json = config_.format == config::LogFormat::json;
  auto line = json ? to_json(record, times_.wall()) : to_text(record);
  if (stamp_ == Stamp::priority) {
    line = fmt::format("<{}>{}", priority(record.level), line);
  } else if (stamp_ == Stamp::time && !json) {
    line = fmt::format("{} {:<5} {}", to_utc(times_.wall()), config::to_string(record.level), line);
  }
  output_(record, line);
}

void Core::replace(config::LogConfig config, Output output, Stamp stamp) {
  const std::scoped_lock guard(lock_);
  config_ = std::move(config);
  output_ = std::move(output);
  stamp_ = stamp;
  narrow();
}

void Core::set_filter(Level level, std::vector<std::string> modules, std::vector<Guid> guids) {
  const std::scoped_lock guard(lock_);
  config_.level = level;
  config_.modules = std::move(modules);
  config_.guids = std::move(guids);
  narrow();
}

}  // namespace smd::log
