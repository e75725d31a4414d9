// SPDX-License-Identifier: Apache-2.0
#pragma once
// The flags of partitions and of multicast groups in OpenSM's partitions.conf: mtu, rate, scope, Q_Key,
// TClass, sl, FlowLabel.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/import/conf_notes.h"
#include "config/partition_definition.h"

namespace smd::config {

/// NAME or NAME=VALUE between two commas, without the blanks around both.
struct ConfToken {
  std::string_view name{};
  std::optional<std::string_view> value{};
};

/// Takes the token up to the first comma off the text; the text is empty, not "", behind the last one.
ConfToken take_token(std::optional<std::string_view>& text);

/// OpenSM compares only as many letters as the file has: "m" is mtu, and so is a flag without a name.
bool is_prefix_of(std::string_view given, std::string_view word);

/// Sets what a flag sets. False where it is none of these: nothing is noted then.
bool apply_group_flag(const ConfToken& flag, GroupSettings& settings, ConfNotes& notes);

/// The names of the flags of groups, for suggestions.
std::vector<std::string> group_flag_names();

}  // namespace smd::config
