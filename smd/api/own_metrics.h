// SPDX-License-Identifier: Apache-2.0
#pragma once
// Metrics of smd itself.

#include "smd/api/scrape.h"

namespace smd::api {

/// The families smd_*: docs/metrics.md, 'Of smd'. Values of their labels are of fixed sets, or of the
/// fabric's switches and adapters.
void write_own_families(Scrape& scrape);

}  // namespace smd::api
