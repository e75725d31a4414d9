// SPDX-License-Identifier: Apache-2.0
#pragma once
// Members of a partition in OpenSM's partitions.conf, and NVIDIA's additions to them.

#include <optional>
#include <string>

#include "config/import/conf_notes.h"
#include "config/import/group_flags.h"
#include "config/partition_definition.h"

namespace smd::config {

/// "full", "limited", "both" by any of their first letters; empty text is full. Nothing for other text.
std::optional<Membership> read_membership(std::string_view text);

/// A keyword, a GUID, a range of GUIDs, or the name of a port: "NodeDescription/P1". Nothing for "NONE" and
/// for an empty member, and, with an error, for what is none of these. `standard` is the membership of
/// members without one.
std::optional<MemberRule> read_conf_member(const ConfToken& token, Membership standard, ConfNotes& notes);

}  // namespace smd::config
