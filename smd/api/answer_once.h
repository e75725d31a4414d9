// SPDX-License-Identifier: Apache-2.0
#pragma once
// A request that comes twice, with what was kept of the first one.

#include <functional>

#include "smd/api/answered.h"
#include "smd/api/backend.h"
#include "smd/api/router.h"

namespace smd::api {

/// `answer_now()`, or where the question is a POST with an Idempotency-Key what the same one was answered
/// before: here, at the master to which it is handed on (`for_master`), or by an SM before this one. Not so
/// of tokens: their secrets are kept nowhere.
Answer answer_once(const Route& route, Question& question, bool for_master, Backend& backend,
                   const std::function<Answer()>& answer_now);

}  // namespace smd::api
