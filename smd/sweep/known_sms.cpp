// SPDX-License-Identifier: Apache-2.0
#include "smd/sweep/known_sms.h"

#include <algorithm>

namespace smd::sm::inline sweeping {

std::vector<OtherSm> known_sms(const Subnet& subnet) {
  std::vector<OtherSm> sms;
  for (const auto& other : subnet.other_sms) {
    if (other.answered) sms.push_back(other);
  }
  for (const auto& former : subnet.former_sms) {
    if (std::ranges::find(sms, former.at, &OtherSm::at) == sms.end()) sms.push_back(former);
  }
  return sms;
}

void keep_former_sms(Subnet& found, const Subnet& before) {
  found.former_sms = known_sms(before);
  std::erase_if(found.former_sms, [&](const OtherSm& sm) {
    const auto now = std::ranges::find(found.other_sms, sm.at, &OtherSm::at);
    const auto* node = found.find(sm.at.node);
    return (now != found.other_sms.end() && now->answered) || node == nullptr ||
           !is_end_port(*node, sm.at.port);
  });
}

}  // namespace smd::sm::inline sweeping
