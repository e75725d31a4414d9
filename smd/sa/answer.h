// SPDX-License-Identifier: Apache-2.0
#pragma once
// From a question to its answer: what is asked decides who answers. Pure: the same directory and the same
// bytes give the same answer, on any thread.

#include <cstdint>
#include <optional>
#include <vector>

#include "smd/sa/directory.h"
#include "smd/sa/request.h"

namespace smd::sa {

struct Settings {
  std::uint64_t sm_key = 0;  ///< 0: none is asked for
  /// PacketLifeTime of paths, 4.096 µs * 2^n.
  std::uint8_t packet_life = 18;
  friend bool operator==(const Settings&, const Settings&) = default;
};

/// True of MADs of this class that want an answer.
bool is_question(const Request& request);

/// The reply's bytes; nothing where the MAD must not be answered: it is an answer itself, it is no MAD of
/// this class, or its SM_Key is neither 0 nor ours.
std::optional<std::vector<std::uint8_t>> answer(const Directory* directory, const Settings& settings,
                                                std::span<const std::uint8_t> mad);

}  // namespace smd::sa
