// SPDX-License-Identifier: Apache-2.0
#include "mad/wire/packet.h"

#include <algorithm>
#include <utility>

#include "mad/wire/performance.h"
#include "mad/wire/sa/sa_mad.h"

namespace smd::wire {
namespace {

constexpr DataPlace to_the_end(std::size_t first) { return {first, kMadBytes - first}; }

}  // namespace

DataPlace data_place(MgmtClass mgmt_class) {
  constexpr DataPlace kSmp{64, 64};
  constexpr std::size_t kHeaders = 64, kVendor1 = 24, kVendor2 = 40;
  switch (mgmt_class) {
    case MgmtClass::sm_lid:
    case MgmtClass::sm_directed:
      return kSmp;
    case MgmtClass::sa:
      return to_the_end(kSaDataOffset);
    case MgmtClass::perf:
      return to_the_end(kPerformanceData);
    case MgmtClass::cm:
      return to_the_end(MadHeader::kBytes);
    default:
      break;
  }
  const auto number = std::to_underlying(mgmt_class);
  if (number >= 0x09 && number <= 0x0F) return to_the_end(kVendor1);
  if (number >= 0x30 && number <= 0x4F) return to_the_end(kVendor2);
  return to_the_end(kHeaders);  // BM, device management, congestion control
}

Mad::Mad(MgmtClass mgmt_class, std::uint8_t class_version, Method method, std::uint16_t attribute,
         std::uint32_t modifier) {
  set_base_version(1);
  set_mgmt_class(mgmt_class);
  set_class_version(class_version);
  set_method(method);
  set_attribute(attribute);
  set_modifier(modifier);
}

std::optional<Mad> Mad::from_bytes(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < kBytes) return std::nullopt;
  Mad mad;
  std::ranges::copy(bytes.first(kBytes), mad.bytes_.begin());
  return mad;
}

MadHeader Mad::header() const { return decode<MadHeader>(bytes_).value_or(MadHeader{}); }

std::uint16_t Mad::status() const {
  const auto value = static_cast<std::uint16_t>(number<kStatus, 16>());
  return is_directed() ? static_cast<std::uint16_t>(value & ~kDirection) : value;
}

bool Mad::returning() const { return is_directed() && (number<kStatus, 16>() & kDirection) != 0; }

void Mad::set_status(std::uint16_t status) {
  if (!is_directed()) return set_number<kStatus, 16>(status);
  set_number<kStatus, 16>((number<kStatus, 16>() & kDirection) | (status & (kDirection - 1U)));
}

void Mad::set_returning(bool returning) {
  const std::uint64_t value = number<kStatus, 16>() & (kDirection - 1U);
  set_number<kStatus, 16>(value | (returning ? kDirection : 0U));
}

std::span<const std::uint8_t> Mad::data() const {
  const auto place = data_place(mgmt_class());
  return std::span<const std::uint8_t>(bytes_).subspan(place.first, place.size);
}
std::span<std::uint8_t> Mad::data() {
  const auto place = data_place(mgmt_class());
  return std::span<std::uint8_t>(bytes_).subspan(place.first, place.size);
}

Mad Mad::response(std::uint16_t status) const {
  Mad answer = *this;
  answer.set_method(response_to(method()));
  answer.set_status(status);
  if (is_directed()) answer.set_returning(!returning());
  return answer;
}

}  // namespace smd::wire
