// SPDX-License-Identifier: Apache-2.0
#pragma once
// What memory allows on this machine: routes are compared with it, not with seconds of another machine.

#include <cstddef>

#include "routing/parallel.h"

namespace smd::cli {

/// Fills a buffer, which was allocated and written once before, by all threads; the best of 5 times.
double memset_ms(std::size_t bytes, const routing::Parallel& parallel);

}  // namespace smd::cli
