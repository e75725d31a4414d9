// SPDX-License-Identifier: Apache-2.0
#pragma once
// Joins what the lines of both ends of a cable say.

#include "mad/base/net/reader.h"

namespace smd::base::net {

/// Makes the links of lines.fabric, symmetric, and fills in what only the other end's line says (a missing
/// line, a GUID, a LID, a rate). Contradictions become errors that name both lines.
void link(Lines& lines);

}  // namespace smd::base::net
