// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who calls, and whether that caller may.

#include <cstdint>
#include <expected>
#include <optional>

#include "smd/access/access.h"
#include "smd/api/router.h"

namespace smd::api {

/// The rights of a request now, without counting a use or a failure: of one that is being answered for long.
access::Access access_now(const Request& request, std::int64_t now, const Backend& backend);
/// The rights of the caller. 401: no good token; 429: too many wrong ones from this address; 503: it may be
/// one of a store that is not open yet, which counts as no wrong one.
std::expected<access::Access, Answer> caller_of(const Request& request, Backend& backend);
/// The same error as answer() has it; nothing: there is none. `request` needs no body yet. At once.
std::optional<Answer> refused_caller(const Request& request, Backend& backend);
/// 403 where the caller has not what the route needs, 503 where a store that is not open yet may say so; a
/// subnet that it does not see is for the route to find missing.
std::optional<Answer> forbidden(Needs needs, const Question& question, const Backend& backend);

}  // namespace smd::api
