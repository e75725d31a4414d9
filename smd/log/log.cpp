// SPDX-License-Identifier: Apache-2.0
#include "smd/log/log.h"

#include <utility>

#include "smd/log/core.h"
#include "smd/log/format.h"

namespace smd::log {
namespace {

Stamp stamp_of(const config::LogConfig& config) {
  if (config.target == "journal") return Stamp::none;
  return config.target == "stderr" && stderr_is_journal() ? Stamp::priority : Stamp::time;
}

}  // namespace

Times real_times() {
  return {
      .steady = [] { return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()); },
      .wall = [] { return std::chrono::system_clock::now(); }};
}

Event::Event(Core* core, std::string_view subnet, Level level, std::string_view event) : core_(core) {
  if (core == nullptr || !core->may_write(level)) return;
  record_.emplace();
  record_->level = level;
  record_->event = event;
  record_->subnet = subnet;
}

Event::~Event() {
  if (record_) core_->write(*record_);
}

Event& Event::port(Guid guid, std::string_view name, PortNum number) {
  if (!record_) return *this;
  record_->guids.push_back(guid);
  record_->subject += fmt::format("{} {} ", guid, number);
  return kv("guid", guid).kv("name", name).kv("port", number);
}

Event& Event::node(Guid guid, std::string_view name) {
  if (!record_) return *this;
  record_->guids.push_back(guid);
  record_->subject += fmt::format("{} ", guid);
  return kv("guid", guid).kv("name", name);
}

Event& Event::subject(std::string_view what) {
  if (record_) record_->subject = what;
  return *this;
}

Event& Event::always() {
  if (record_) record_->always = true;
  return *this;
}

Event& Event::event_only() {
  if (record_) record_->event_only = true;
  return always();
}

std::expected<Log, std::string> Log::open(const config::LogConfig& config, Times times) {
  auto output = make_output(config);
  if (!output) return std::unexpected(std::move(output.error()));
  Log log;
  log.core_ = std::make_shared<Core>(config, std::make_unique<Writer>(*std::move(output)), std::move(times),
                                     stamp_of(config));
  return log;
}

Log::Log(config::LogConfig config, Output output, Times times)
    : core_(std::make_shared<Core>(std::move(config), std::move(output), std::move(times), Stamp::none)) {}

Log Log::with_subnet(std::string_view name) const {
  auto log = *this;
  log.subnet_ = name;
  return log;
}

Event Log::begin(Level level, std::string_view event) const { return {core_.get(), subnet_, level, event}; }

void Log::tick() const {
  if (core_) core_->tick();
}

void Log::finish() const {
  if (core_) core_->finish();
}

std::expected<void, std::string> Log::configure(const config::LogConfig& config) const {
  if (!core_) return {};
  auto output = make_output(config);
  if (!output) return std::unexpected(std::move(output.error()));
  core_->replace(config, std::make_unique<Writer>(*std::move(output)), stamp_of(config));
  return {};
}

void Log::set_filter(Filter filter) const {
  if (core_) core_->set_filter(std::move(filter));
}

void Log::set_sink(Sink sink) const {
  if (core_) core_->set_sink(std::move(sink));
}

Filter Log::filter() const { return core_ ? core_->filter() : Filter{}; }

}  // namespace smd::log
