// SPDX-License-Identifier: Apache-2.0
#include "smd/log/core.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "smd/log/format.h"

namespace smd::log {

Core::Core(config::LogConfig config, Output output, Times times, Stamp stamp)
    : widest_(filter_of(config).widest()),
      config_(std::move(config)),
      filter_(filter_of(config_)),
      output_(std::move(output)),
      times_(std::move(times)),
      stamp_(stamp) {}

Core::Core(config::LogConfig config, std::unique_ptr<Writer> writer, Times times, Stamp stamp)
    : Core(std::move(config), Output{}, std::move(times), stamp) {
  writer_ = std::move(writer);
}

Core::~Core() { finish(); }

/// What the sink gets once the lock is given back: it may write to this log itself.
struct Core::ForSink {
  std::shared_ptr<const Sink> sink;
  std::vector<Record> records;
  void hand_over() const {
    for (const auto& record : records) sink->take(record);
  }
};

/// Counts that are due, and `record` (null: none) where the sink takes it. With the lock.
Core::ForSink Core::for_sink(const Record* record) {
  if (!sink_ || (record != nullptr && record->level > sink_->level)) return {};
  const auto now = times_.steady();
  ForSink out{.sink = sink_, .records = sink_repetitions_.due(now)};
  if (record != nullptr && (record->always || sink_repetitions_.admit(*record, now)))
    out.records.push_back(*record);
  return out;
}

void Core::write(const Record& record) {
  ForSink rest;
  {
    const std::scoped_lock guard(lock_);
    write_line(record);
    rest = for_sink(&record);
  }
  rest.hand_over();
}

void Core::write_line(const Record& record) {
  if (record.event_only || !filter_.passes(record)) return;
  const auto now = times_.steady();
  for (const auto& count : repetitions_.due(now)) emit(count);
  // Debug lines were asked for, one by one; counting them would hide what is looked for.
  if (record.always || record.level == Level::debug || repetitions_.admit(record, now)) emit(record);
}

void Core::tick() {
  ForSink rest;
  {
    const std::scoped_lock guard(lock_);
    for (const auto& count : repetitions_.due(times_.steady())) emit(count);
    tell_lost();
    rest = for_sink(nullptr);
  }
  rest.hand_over();
}

void Core::finish() {
  std::shared_ptr<Writer> writer;
  {
    const std::scoped_lock guard(lock_);
    for (const auto& count : repetitions_.drain()) emit(count);
    tell_lost();
    writer = writer_;
  }
  if (writer) writer->drain();
}

void Core::tell_lost() {
  const auto lost = writer_ ? writer_->take_lost() : 0;
  if (lost == 0) return;
  Record record{.level = Level::warn, .event = "log.dropped"};
  record.fields.push_back(field("lines", lost));
  record.fields.push_back(field("reason", std::string_view("log.target took no more lines")));
  writer_->put(record, line_of(record));
}

void Core::emit(const Record& record) {
  if (!writer_) return output_(record, line_of(record));
  tell_lost();
  writer_->put(record, line_of(record));
}

std::string Core::line_of(const Record& record) const {
  const bool json = config_.format == config::LogFormat::json;
  auto line = json ? to_json(record, times_.wall()) : to_text(record);
  if (stamp_ == Stamp::priority) {
    line = fmt::format("<{}>{}", priority(record.level), line);
  } else if (stamp_ == Stamp::time && !json) {
    line = fmt::format("{} {:<5} {}", to_utc(times_.wall()), config::to_string(record.level), line);
  }
  return line;
}

void Core::replace(config::LogConfig config, std::unique_ptr<Writer> writer, Stamp stamp) {
  const std::scoped_lock guard(lock_);
  config_ = std::move(config);
  writer_ = std::move(writer);
  stamp_ = stamp;
  filter_ = filter_of(config_);
  set_widest();
}

void Core::set_filter(Filter filter) {
  const std::scoped_lock guard(lock_);
  filter_ = std::move(filter);
  set_widest();
}

void Core::set_sink(Sink sink) {
  const std::scoped_lock guard(lock_);
  sink_ = sink.take ? std::make_shared<const Sink>(std::move(sink)) : nullptr;
  set_widest();
}

void Core::set_widest() {
  const auto lines = filter_.widest();
  widest_.store(sink_ ? std::max(lines, sink_->level) : lines, std::memory_order_relaxed);
}

Filter Core::filter() {
  const std::scoped_lock guard(lock_);
  return filter_;
}

}  // namespace smd::log
