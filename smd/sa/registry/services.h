// SPDX-License-Identifier: Apache-2.0
#pragma once
// Services that clients offer, for a time or for ever.

#include <expected>

#include "smd/sa/registry/write.h"

namespace smd::sa {

/// A lease that has no end.
inline constexpr std::uint32_t kNoEnd = 0xFFFFFFFF;

using ServiceAnswer = std::expected<wire::ServiceRecord, Refusal>;

/// Set(ServiceRecord): a new service, or a new lease and new data of one that is there.
ServiceAnswer offer(Writing& writing, const Requester& requester, const Request& request);
/// Delete(ServiceRecord): the service ends.
ServiceAnswer withdraw(Writing& writing, const Requester& requester, const Request& request);
/// Services whose lease is over at `writing.now` end.
void expire(Writing& writing);
/// ServiceP_Key as it counts: one of no partition (its low 15 bits are 0) is the full default key.
PKey service_pkey(PKey asked);
/// As it is shown at this time: the lease is what is left of it.
wire::ServiceRecord shown(const Service& service, std::int64_t now);

}  // namespace smd::sa
