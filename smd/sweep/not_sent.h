// SPDX-License-Identifier: Apache-2.0
#pragma once
// Requests that the local side refused.

#include <cerrno>

#include "mad/transactions/error.h"

namespace smd::sm::inline sweeping {

/// The transport would not send it, for a reason that does not pass (no EAGAIN and its like): the node was
/// not asked. Not so where it was cancelled.
inline bool could_not_be_sent(const mad::RequestError& error) {
  return error.fault == mad::Fault::closed && error.error != 0 && error.error != ECANCELED;
}

/// It ended because the caller has no more use for it; nothing is known of the node by it.
inline bool was_dropped(const mad::RequestError& error) {
  return error.fault == mad::Fault::closed && !could_not_be_sent(error);
}

}  // namespace smd::sm::inline sweeping
