// SPDX-License-Identifier: Apache-2.0
#pragma once
// Changes of partitions, whatever form the caller gives them.

#include <functional>
#include <string_view>

#include "smd/api/router.h"
#include "smd/policy/edits.h"

namespace smd::api {

using PartitionEdit = std::function<policy::EditResult(const policy::EditContext&)>;

/// Keeps the change and puts it in force. 409: this SM is not master, or a file defines the partition; 503:
/// it cannot be kept.
Answer change_partition(const Question& question, Backend& backend, std::string_view what,
                        const PartitionEdit& edit);

}  // namespace smd::api
