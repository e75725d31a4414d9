// SPDX-License-Identifier: Apache-2.0
#include "smd/ha/election.h"

namespace smd::sm::inline availability {

std::optional<OtherSm> gives_way_to(const SmRank& self, bool self_is_master,
                                    const std::vector<OtherSm>& others) {
  const OtherSm* first = nullptr;
  for (const auto& other : others) {
    const auto state = other.info.state;
    const SmRank rank{other.info.priority, other.info.guid};
    const bool master = state == wire::SmState::master;
    if (!master && (self_is_master || state == wire::SmState::not_active || !(self < rank))) continue;
    const bool first_is_master = first != nullptr && first->info.state == wire::SmState::master;
    const bool better = first == nullptr || (master && !first_is_master) ||
                        (master == first_is_master && SmRank{first->info.priority, first->info.guid} < rank);
    if (better) first = &other;
  }
  return first != nullptr ? std::optional{*first} : std::nullopt;
}

}  // namespace smd::sm::inline availability
