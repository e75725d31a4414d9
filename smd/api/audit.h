// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who has changed what.

#include "smd/api/backend.h"
#include "smd/api/request.h"

namespace smd::api {

/// Of calls that change something: with the status of the answer. One that is handed on is audited when it is
/// answered, and by the master.
void audit(Answer& answered, Audit call, Backend& backend);

}  // namespace smd::api
