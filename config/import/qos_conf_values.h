// SPDX-License-Identifier: Apache-2.0
#pragma once
// The values of qos-policy.conf: numbers, lists of ranges, names.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/import/conf_notes.h"
#include "config/qos_policy.h"

namespace smd::config {

/// A key and its value, as they stand in the file; errors go to `notes`.
struct QosValue {
  std::string_view key;
  std::string_view text;  ///< without blanks at its ends
  ConfNotes& notes;
};

/// The text up to a '#' that does not stand in quotes.
std::string_view without_comment(std::string_view line);
/// Where `sought` stands first outside of quotes; npos where it does not.
std::size_t find_outside_quotes(std::string_view text, char sought);

/// One number from `least` to `most`, in decimal, or hexadecimal with 0x. `meaning` is part of the error
/// where it is not one.
std::optional<std::uint64_t> read_qos_number(const QosValue& value, std::uint64_t least, std::uint64_t most,
                                             std::string_view meaning);
/// Numbers and ranges, "1, 0x10-0x1f". A number above `most` is an error; nothing, and an error is noted, as
/// for other texts.
std::optional<QosRanges> read_qos_ranges(const QosValue& value, std::uint64_t most, std::string_view meaning);
/// P_Keys: the low 15 bits count.
std::optional<QosRanges> read_qos_pkeys(const QosValue& value);
/// VLs with their weights, "0:4, 1:8"; any numbers. Nothing, and an error is noted, for other texts.
std::optional<std::vector<std::pair<std::uint64_t, std::uint64_t>>> read_qos_pairs(const QosValue& value);
/// One name, in quotes or not.
std::optional<std::string> read_qos_name(const QosValue& value);
/// Names with ',' between them.
std::optional<std::vector<std::string>> read_qos_names(const QosValue& value);
/// Free text: quotes are left out.
std::string read_qos_text(std::string_view text);
/// "NodeDescription/P1", several with ',' between them. As OpenSM's documentation has it, names may have
/// blanks.
std::optional<std::vector<QosPortName>> read_qos_port_names(const QosValue& value);

}  // namespace smd::config
