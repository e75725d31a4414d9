// SPDX-License-Identifier: Apache-2.0
#include "mad/wire/packet.h"

#include <algorithm>

#include "mad/wire/performance.h"
#include "mad/wire/sa/sa_mad.h"

namespace smd::wire {

static_assert(data_place(MgmtClass::sa).first == kSaDataOffset &&
              data_place(MgmtClass::sa).size == kSaDataBytes);
static_assert(data_place(MgmtClass::perf).first == kPerformanceData &&
              data_place(MgmtClass::perf).size == kPerformanceBytes);

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
