// SPDX-License-Identifier: Apache-2.0
#pragma once
// Text fit for a document.

#include <string>
#include <string_view>

namespace smd::config {

/// Lines of at most 98 characters, each behind `lead` and with a line end.
std::string wrapped(std::string_view text, std::string_view lead);

/// A cell of a Markdown table: '|' is escaped.
std::string cell(std::string_view text);

/// Text of a man page: backslash, '-', and a leading '.' or quote are escaped.
std::string roff(std::string_view text);

}  // namespace smd::config
