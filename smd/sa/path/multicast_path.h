// SPDX-License-Identifier: Apache-2.0
#pragma once
// PathRecord to a multicast group.

#include "smd/registry/registry.h"
#include "smd/sa/directory.h"
#include "smd/sa/request.h"

namespace smd::sa {

/// True of questions whose destination is a group: its GID, or a multicast LID.
bool is_to_group(const Request& request);

/// The group's terms; a source need not be a member, but must be in the group's partition. Where none is
/// named it is the asking port (null: not known).
Answer multicast_path(const Directory& directory, const Registry& registry, const Request& request,
                      const EndPort* requester);

}  // namespace smd::sa
