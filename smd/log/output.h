// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where lines go: stderr, the journal, a file. spdlog stays behind this header.

#include <expected>
#include <functional>
#include <string>
#include <string_view>

#include "config/config.h"
#include "smd/log/record.h"

namespace smd::log {

/// Takes a finished line; called from one thread at a time.
using Output = std::function<void(const Record& record, std::string_view line)>;

/// What [log] target says, or why that cannot be.
std::expected<Output, std::string> make_output(const config::LogConfig& config);

/// True where systemd reads our stderr (JOURNAL_STREAM names its device and inode): lines then carry a `<N>`
/// priority and no time, as sd-daemon(3) has it.
bool stderr_is_journal();

/// syslog's priority of a level: 3 error, 4 warning, 6 info, 7 debug.
int priority(Level level);

}  // namespace smd::log
