// SPDX-License-Identifier: Apache-2.0
#pragma once
// `--set KEY=VALUE`: the text of the command line as a value of the file.

#include <string_view>

#include "config/codecs.h"
#include "config/value.h"

namespace smd::config {

/// The value of `text` for a key of this form. Lists are written with commas; brackets and quotes may be left
/// out. Never fails: a text that does not fit stays a text, which the codec then refuses.
Value override_value(std::string_view text, Form form);

}  // namespace smd::config
