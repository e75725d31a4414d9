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
  Smp smp;
  smp.set_base_version(1);
  smp.set_mgmt_class(MgmtClass::sm_lid);
  smp.set_class_version(1);
  smp.set_method(method);
  smp.set_attribute(attribute);
  smp.set_modifier(modifier);
  return smp;
}

std::optional<Smp> Smp::from_bytes(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < kBytes) return std::nullopt;
  Smp smp;
  std::ranges::copy(bytes.first(kBytes), smp.bytes_.begin());
  return smp;
}

MadHeader Smp::header() const { return decode<MadHeader>(bytes_).value_or(MadHeader{}); }

std::uint16_t Smp::status() const {
  const auto value = static_cast<std::uint16_t>(number<kStatus, 16>());
  return is_directed() ? static_cast<std::uint16_t>(value & ~kDirection) : value;
}

bool Smp::returning() const { return is_directed() && (number<kStatus, 16>() & kDirection) != 0; }

void Smp::set_status(std::uint16_t status) {
  if (!is_directed()) return set_number<kStatus, 16>(status);
  set_number<kStatus, 16>((number<kStatus, 16>() & kDirection) | (status & (kDirection - 1U)));
}

void Smp::set_returning(bool returning) {
  const std::uint64_t value = number<kStatus, 16>() & (kDirection - 1U);
  set_number<kStatus, 16>(value | (returning ? kDirection : 0U));
}

std::span<const std::uint8_t, Smp::kDataBytes> Smp::data() const {
  return std::span(bytes_).subspan<kData, kDataBytes>();
}
std::span<std::uint8_t, Smp::kDataBytes> Smp::data() {
  return std::span(bytes_).subspan<kData, kDataBytes>();
}

PortNum Smp::initial_path(std::size_t hop) const {
  return hop <= kMaxHops ? PortNum{bytes_[kInitialPath + hop]} : PortNum{};
}
PortNum Smp::return_path(std::size_t hop) const {
  return hop <= kMaxHops ? PortNum{bytes_[kReturnPath + hop]} : PortNum{};
}
void Smp::set_initial_path(std::size_t hop, PortNum port) {
  if (hop <= kMaxHops) bytes_[kInitialPath + hop] = port.value();
}
void Smp::set_return_path(std::size_t hop, PortNum port) {
  if (hop <= kMaxHops) bytes_[kReturnPath + hop] = port.value();
}

Smp Smp::response(std::uint16_t status) const {
  Smp answer = *this;
  answer.set_method(response_to(method()));
  answer.set_status(status);
  if (is_directed()) answer.set_returning(!returning());
  return answer;
}

}  // namespace smd::wire
