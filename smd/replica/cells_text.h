// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cells as one text, for a table that holds rows of kinds that are not known.

#include <optional>
#include <string>
#include <string_view>

#include "smd/store/sqlite.h"

namespace smd::replica {

/// Each cell as "i-12," or "t5:words,": a number, or a text with its length in bytes.
std::string cells_text(const store::Cells& cells);
/// Nothing where the text is no such.
std::optional<store::Cells> cells_of(std::string_view text);

}  // namespace smd::replica
