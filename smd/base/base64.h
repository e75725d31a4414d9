// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bytes as text (RFC 4648).

#include <optional>
#include <string>
#include <string_view>

namespace smd::sm::inline common {

/// With padding, without line ends.
std::string to_base64(std::string_view bytes);
/// Nothing where the text is no base64; that of no bytes is the empty text.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace smd::sm::inline common
