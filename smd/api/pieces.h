// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bodies of any length, made as the client takes them.

#include <functional>
#include <string>

#include "smd/api/request.h"

namespace smd::api {

/// Appends what comes next of the text, something short; false: that was the end. Owns all it reads.
using MoreText = std::move_only_function<bool(std::string& text)>;

/// Status 200 with the text, JSON. A long one has a `rest`.
Answer answer_in_pieces(MoreText more);

}  // namespace smd::api
