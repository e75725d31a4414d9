// SPDX-License-Identifier: Apache-2.0
#pragma once
// Patterns of names as shells have them.

#include <string_view>

namespace smd::config {

/// True where the text holds one of '*', '?' and '['.
bool is_glob(std::string_view text);

/// True where a '[' has no ']'.
bool has_open_set(std::string_view pattern);

/// True where the whole name matches: '*' is any text, '?' one character, "[a-f0]" one of these, "[!a]" any
/// but these; a '[' without its ']' is itself. Case counts. Takes at most |pattern| * |name| steps.
bool matches_glob(std::string_view pattern, std::string_view name);

}  // namespace smd::config
