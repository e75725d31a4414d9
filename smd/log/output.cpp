// SPDX-License-Identifier: Apache-2.0
#include "smd/log/output.h"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// Without the caller's file and line, which would be this file for every line.
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

#include <cctype>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

namespace smd::log {
namespace {

constexpr auto kJournalSocket = "/run/systemd/journal/socket";

/// A logger of our own, in no registry. Its error handler keeps a full disk from ending the daemon: spdlog
/// catches what its sinks throw.
Output through_spdlog(spdlog::sink_ptr sink) {
  sink->set_pattern("%v");
  auto logger = std::make_shared<spdlog::logger>("smd", std::move(sink));
  logger->set_level(spdlog::level::trace);
  logger->flush_on(spdlog::level::trace);
  return [logger](const Record&, std::string_view line) {
    logger->log(spdlog::level::info, spdlog::string_view_t(line.data(), line.size()));
  };
}

std::expected<Output, std::string> to_file(const std::string& path) {
  try {
    return through_spdlog(std::make_shared<spdlog::sinks::basic_file_sink_mt>(path));
  } catch (const spdlog::spdlog_ex& problem) {  // its constructor's only way to say no
    return std::unexpected(fmt::format("log.target: found \"{}\", allowed a file that can be written: {}",
                                       path, problem.what()));
  }
}

/// Journal fields are upper case; ours carry a prefix so that they never meet systemd's own.
std::string journal_field(const Field& field) {
  std::string name = "SMD_";
  for (const char c : field.key) {
    const auto byte = static_cast<unsigned char>(c);
    name += std::isalnum(byte) != 0 ? static_cast<char>(std::toupper(byte)) : '_';
  }
  return name + "=" + field.value;
}

void write_to_journal(const Record& record, std::string_view line) {
  std::vector<std::string> fields{fmt::format("MESSAGE={}", line),
                                  fmt::format("PRIORITY={}", priority(record.level)), "SYSLOG_IDENTIFIER=smd",
                                  "SMD_EVENT=" + record.event};
  if (!record.subnet.empty()) fields.push_back("SMD_SUBNET=" + record.subnet);
  for (const auto& field : record.fields) fields.push_back(journal_field(field));
  std::vector<iovec> parts;
  parts.reserve(fields.size());
  for (auto& field : fields) parts.push_back({.iov_base = field.data(), .iov_len = field.size()});
  sd_journal_sendv(parts.data(), static_cast<int>(parts.size()));
}

}  // namespace

int priority(Level level) {
  switch (level) {
    case Level::error:
      return 3;
    case Level::warn:
      return 4;
    case Level::info:
      return 6;
    case Level::debug:
      return 7;
  }
  return 6;
}

bool stderr_is_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat is{};
  if (stream == nullptr || fstat(STDERR_FILENO, &is) != 0) return false;
  return fmt::format("{}:{}", is.st_dev, is.st_ino) == stream;
}

std::expected<Output, std::string> make_output(const config::LogConfig& config) {
  if (config.target == "stderr") return through_spdlog(std::make_shared<spdlog::sinks::stderr_sink_mt>());
  if (config.target != "journal") return to_file(config.target);
  if (::access(kJournalSocket, W_OK) != 0) {
    return std::unexpected(
        fmt::format("log.target: found \"journal\", allowed \"stderr\" or a file's path: no journal at {}",
                    kJournalSocket));
  }
  return write_to_journal;
}

}  // namespace smd::log
