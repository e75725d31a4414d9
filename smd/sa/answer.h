// SPDX-License-Identifier: Apache-2.0
#pragma once
// From a question to its answer: what is asked decides who answers. Pure: the same directory and the same
// bytes give the same answer, on any thread.

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "smd/sa/directory.h"
#include "smd/sa/registry/registry.h"
#include "smd/sa/request.h"
#include "smd/sa/settings.h"

namespace smd::sa {

/// True of MADs of this class that want an answer.
bool is_question(const Request& request);

/// Whose question it is, and when.
struct Asking {
  Lid lid;               ///< 0: nobody knows
  std::int64_t now = 0;  ///< Unix time in seconds
  /// Of our own SM, as SMInfo tells it: it counts on while the Snapshot stands.
  std::uint32_t act_count = 0;
};

/// True of requests that must not be answered: their SM_Key is neither 0 nor ours.
bool has_wrong_key(const Request& request, const Settings& settings);

/// Whole tables as they were told, until the next Snapshot.
class TableCache {
 public:
  const Answer* find(std::uint16_t attribute) const {
    const auto found = tables_.find(attribute);
    return found != tables_.end() ? &found->second : nullptr;
  }
  const Answer& put(std::uint16_t attribute, Answer answer) {
    return tables_.insert_or_assign(attribute, std::move(answer)).first->second;
  }
  void clear() { tables_.clear(); }

 private:
  std::map<std::uint16_t, Answer> tables_;
};

/// The reply's bytes into `out`, whose memory is used again; false where there is none. `tables` are of this
/// directory.
bool answer(const Directory* directory, const Registry& registry, const Settings& settings,
            std::span<const std::uint8_t> mad, const Asking& asking, TableCache& tables,
            std::vector<std::uint8_t>& out);

/// The reply's bytes; nothing where the MAD must not be answered: it is an answer itself, it is no MAD of
/// this class, or its SM_Key is neither 0 nor ours. Requests that change the registry are not for this
/// (smd/sa/registry/write.h).
std::optional<std::vector<std::uint8_t>> answer(const Directory* directory, const Registry& registry,
                                                const Settings& settings, std::span<const std::uint8_t> mad,
                                                const Asking& asking = {});

}  // namespace smd::sa
