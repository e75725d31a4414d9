// SPDX-License-Identifier: Apache-2.0
#pragma once
// Joining and leaving multicast groups.

#include <expected>

#include "mad/wire/sa/member_record.h"
#include "smd/sa/registry/write.h"

namespace smd::sa {

/// Bytes of a record in an answer: a multiple of 8.
inline constexpr std::size_t kMemberRecordBytes = 56;

using Membership = std::expected<wire::McMemberRecord, Refusal>;

/// Set(MCMemberRecord): the group is made where it is not there and the request says enough.
Membership join(Writing& writing, const Requester& requester, const Request& request);
/// Delete(MCMemberRecord): clears the bits of JoinState that the request names.
Membership leave(Writing& writing, const Requester& requester, const Request& request);

/// A group without full members ends, unless it is well known.
void end_if_empty(Writing& writing, const Mgid& mgid, std::string_view why);

/// A group as it is shown, without a member.
wire::McMemberRecord record_of(const Mgid& mgid, const Group& group);
/// The scope of the group's MGID: bits 0 to 3 of the second byte.
std::uint8_t scope_of(const Mgid& mgid);
inline constexpr std::uint8_t kLinkLocal = 2;

}  // namespace smd::sa
