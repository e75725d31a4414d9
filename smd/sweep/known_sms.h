// SPDX-License-Identifier: Apache-2.0
#pragma once
// SMs that were seen in this run, whether or not they answer now.

#include <cstdint>
#include <vector>

#include "smd/sweep/subnet.h"

namespace smd::sm::inline sweeping {

/// The other SMs that have answered in this run and whose port is in the fabric, each as it answered last.
/// Pure.
std::vector<OtherSm> known_sms(const Subnet& subnet);

/// `before` is the Subnet of the sweep before: what was an SM there is among Subnet::former_sms of `found`
/// where it does not answer any more, as long as its port is in the fabric.
void keep_former_sms(Subnet& found, const Subnet& before);

/// An SM that shows this SM_Key belongs to another subnet than one with ours. 0 is no key: OpenSM shows it
/// to SMs that it does not know.
constexpr bool is_other_key(std::uint64_t ours, std::uint64_t shown) {
  return ours != 0 && shown != 0 && shown != ours;
}

}  // namespace smd::sm::inline sweeping
