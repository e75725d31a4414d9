// SPDX-License-Identifier: Apache-2.0
#pragma once
// Foreign text for a terminal.

#include <cstddef>
#include <string>
#include <string_view>

namespace smd::base {

/// UTF-8 for people: C0 controls and DEL as "\x1b"; C1 controls, separators of lines and paragraphs (U+2028,
/// U+2029) and controls of the direction of text (U+202A to U+202E, U+2066 to U+2069) as "\u202e"; bytes that
/// are no UTF-8 as "\xff". All else stays, a backslash too.
std::string escaped(std::string_view text);

/// The name of a node as a person may write it, in the form that names are kept in and compared by: a blank
/// for each C0 control and DEL, itself or as "\x1b"; and the bytes that "\u202e" and "\xff" of escaped()
/// stand for. All else stays.
std::string kept_name(std::string_view words);

/// Bytes of the control character that the text begins with, one of those that escaped() shows otherwise; 0:
/// it begins with none, or is empty.
std::size_t control_length(std::string_view text);

}  // namespace smd::base
