// SPDX-License-Identifier: Apache-2.0
#pragma once
// Codecs of the keys of policies: partitions and QoS.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/codecs.h"
#include "config/port_set.h"
#include "config/qos_policy.h"
#include "mad/base/link.h"

namespace smd::config {

/// A set of ports. `more` is added to the text of what is allowed.
Codec<std::vector<PortTerm>> port_terms(std::string_view more = "");
/// A name that is_policy_name() takes; `what` has it.
Codec<std::string> policy_name(std::string_view what);
/// The same, or nothing.
Codec<std::string> policy_name_or_none(std::string_view what);
/// Numbers and ranges of them, at most `most`; of P_Keys the low 15 bits are kept.
Codec<QosRanges> qos_ranges(std::string_view what, std::uint64_t most, bool pkeys = false);
/// Bytes, or the word `else_word`, which means `else_means`.
Codec<Mtu> group_mtu(std::string_view else_means, std::string_view else_word = "auto");
/// Gb/s, or the word `else_word`, which means `else_means`.
Codec<std::uint8_t> group_rate(std::string_view else_means, std::string_view else_word = "auto");

}  // namespace smd::config
