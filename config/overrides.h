// SPDX-License-Identifier: Apache-2.0
#pragma once
// `--set KEY=VALUE`: text of a command line as the value that the same text would be in the file.

#include <string_view>

#include "config/codecs.h"
#include "config/value.h"

namespace smd::config {

/// Lists are written with commas, brackets and quotes may be left out.
Value override_value(std::string_view text, Form form);

}  // namespace smd::config
