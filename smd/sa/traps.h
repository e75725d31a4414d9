// SPDX-License-Identifier: Apache-2.0
#pragma once
// Traps of the fabric's ports, as subscribers are told of them.

#include <optional>

#include "mad/wire/notice.h"
#include "smd/sa/directory.h"
#include "smd/sa/registry/subscriptions.h"

namespace smd::sa {

/// Traps 64 to 67 (ports and groups that come and go) are sent by the SM alone: one that comes as a MAD is
/// forged.
bool is_for_the_sm_to_say(const wire::Notice& notice);

/// A trap that came from this LID, issued by the port that has the LID: an IssuerLID that is none of the
/// port's becomes `from`. The M_Key in trap 256 is left out, because it may be right elsewhere. Nothing where
/// no port has the LID. Not for traps that are for the SM to say.
std::optional<Event> event_from(const Directory& directory, const wire::Notice& notice, Lid from);

}  // namespace smd::sa
