// SPDX-License-Identifier: Apache-2.0
#pragma once
// The notations of numbers that users and files write. Nothing is skipped: the whole text has to be the
// number.

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "mad/base/fabric.h"
#include "mad/base/id.h"
#include "mad/base/link.h"

namespace smd::base {

/// Decimal, or hexadecimal with "0x"; at most `last`.
std::optional<std::uint64_t> parse_number(std::string_view text,
                                          std::uint64_t last = std::numeric_limits<std::uint64_t>::max());

/// Hexadecimal digits with or without "0x", of any length whose value fits into 64 bits.
std::optional<std::uint64_t> parse_hex(std::string_view text);

/// A GUID as people type it: "0x2c90300001234" (any length), all 16 digits without "0x", or
/// "0002:c903:0000:1234". Fewer digits without "0x" are refused, they could be a decimal number or a name.
std::optional<Guid> parse_guid(std::string_view text);

/// Nothing unless the text is 0 to 65535, decimal or "0x".
std::optional<Lid> parse_lid(std::string_view text);
/// Nothing unless the text is 0 to 255, decimal.
std::optional<PortNum> parse_port(std::string_view text);
/// Nothing unless the text is 0 to 65535, decimal or "0x".
std::optional<PKey> parse_pkey(std::string_view text);

/// The spelling of ibnetdiscover, "4x"; "??" is LinkWidth::unknown, nothing for other texts.
std::optional<LinkWidth> parse_link_width(std::string_view text);
/// "EDR", in any case; "???" is LinkSpeed::unknown, nothing for other texts.
std::optional<LinkSpeed> parse_link_speed(std::string_view text);
/// "4xEDR". Takes any text: what is not known of it stands in LinkRate::text; nothing is 4x???.
LinkRate parse_link_rate(std::string_view text);
/// The text that parse_link_rate reads as this rate.
std::string to_string(const LinkRate& rate);

/// An address or a name, and a port.
struct HostPort {
  std::string host;  ///< without brackets
  std::uint16_t port = 0;
  friend bool operator==(const HostPort&, const HostPort&) = default;
};
/// Nothing unless the text is "HOST:PORT", with brackets around an IPv6 address; the port is 0 to 65535,
/// decimal.
std::optional<HostPort> parse_host_port(std::string_view text);

/// Without spaces, tabs and line ends at both sides.
std::string_view trim(std::string_view text);
/// The text up to the first space or tab; `text` is left without it and the spaces around it.
std::string_view take_word(std::string_view& text);

}  // namespace smd::base
