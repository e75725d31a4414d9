// SPDX-License-Identifier: Apache-2.0
#pragma once
// Asking a simulated fabric that another process serves.

#include <expected>
#include <filesystem>
#include <string>
#include <string_view>

namespace smd::sim {

struct Answer {
  bool done = false;  ///< else `text` says what is wrong
  std::string text;
};

/// A command of `smd sim ctl`. The error is one line: no fabric is served there.
std::expected<Answer, std::string> ask_command(const std::filesystem::path& socket, std::string_view command);
/// May a program be attached to these places (a line each)?
std::expected<Answer, std::string> ask_places(const std::filesystem::path& socket, std::string_view places);

}  // namespace smd::sim
