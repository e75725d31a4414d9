// SPDX-License-Identifier: Apache-2.0
#pragma once
// Colours of what a terminal shows.

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

namespace smd::cli {

/// What a word tells the reader.
enum class Tone : std::uint8_t { plain, good, notice, bad };

/// "auto": where `out` or `err` is the process's own stream and a terminal, NO_COLOR is not set (or empty)
/// and TERM is not "dumb"; "always"; "never". Streams have no colours before this.
void choose_colours(const std::string& when, std::ostream& out, std::ostream& err);
/// The text in the colour of its tone, where the stream has colours; else as it is.
std::string painted(std::ostream& out, Tone tone, std::string_view text);

/// Of the state of a subnet ("up", "reduced", ...), of a port ("Active", "Init", ...), or the level of an
/// event.
Tone tone_of(std::string_view state);

}  // namespace smd::cli
