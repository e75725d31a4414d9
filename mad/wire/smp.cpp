// SPDX-License-Identifier: Apache-2.0
#include "mad/wire/smp.h"

#include <algorithm>

namespace smd::wire {

Smp Smp::directed_without_path(Method method, std::uint16_t attribute, std::uint32_t modifier) {
  Smp smp = lid_routed(method, attribute, modifier);
  smp.set_mgmt_class(MgmtClass::sm_directed);
  smp.set_dr_slid(kPermissiveLid);
  smp.set_dr_dlid(kPermissiveLid);
  return smp;
}

Smp Smp::directed(Method method, std::uint16_t attribute, std::uint32_t modifier,
                  std::span<const PortNum> path) {
  Smp smp = directed_without_path(method, attribute, modifier);
  const std::size_t hops = std::min(path.size(), kMaxHops);
  smp.set_hop_count(static_cast<std::uint8_t>(hops));
  for (std::size_t i = 0; i < hops; ++i) smp.set_initial_path(i + 1, path[i]);
  return smp;
}

Smp Smp::lid_routed(Method method, std::uint16_t attribute, std::uint32_t modifier) {
  return Smp(Mad(MgmtClass::sm_lid, 1, method, attribute, modifier));
}

std::optional<Smp> Smp::from_bytes(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < kBytes) return std::nullopt;
  Smp smp;
  std::ranges::copy(bytes.first(kBytes), smp.bytes().begin());
  return smp;
}

std::span<const std::uint8_t, Smp::kDataBytes> Smp::data() const {
  return bytes().subspan<kData, kDataBytes>();
}
std::span<std::uint8_t, Smp::kDataBytes> Smp::data() { return bytes().subspan<kData, kDataBytes>(); }

PortNum Smp::initial_path(std::size_t hop) const {
  return hop <= kMaxHops ? PortNum{bytes()[kInitialPath + hop]} : PortNum{};
}
PortNum Smp::return_path(std::size_t hop) const {
  return hop <= kMaxHops ? PortNum{bytes()[kReturnPath + hop]} : PortNum{};
}
void Smp::set_initial_path(std::size_t hop, PortNum port) {
  if (hop <= kMaxHops) bytes()[kInitialPath + hop] = port.value();
}
void Smp::set_return_path(std::size_t hop, PortNum port) {
  if (hop <= kMaxHops) bytes()[kReturnPath + hop] = port.value();
}

}  // namespace smd::wire
