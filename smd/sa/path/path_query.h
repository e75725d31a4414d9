// SPDX-License-Identifier: Apache-2.0
#pragma once
// PathRecord and MultiPathRecord: from where to where, on which terms.

#include "smd/sa/directory.h"
#include "smd/sa/policy.h"
#include "smd/sa/request.h"

namespace smd::sa {

/// Longest answer that is made, in bytes. A question for all paths of a large fabric at once is refused with
/// kSaNoResources: nobody could take the answer.
inline constexpr std::size_t kLongestAnswer = std::size_t{16} << 20U;

/// `life`: PacketLifeTime of every path, 4.096 µs * 2^n.
Answer path_records(const Directory& directory, const Policy& policy, std::uint8_t life,
                    const Request& request);

/// GetMulti(MultiPathRecord): paths from each of some ports to each of some others, as PathRecords. Which of
/// them share links the answer leaves to the tables: IndependenceSelector asks for nothing that they lack.
Answer multi_path_records(const Directory& directory, const Policy& policy, std::uint8_t life,
                          const Request& request);

}  // namespace smd::sa
