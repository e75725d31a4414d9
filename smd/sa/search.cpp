// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/search.h"

#include <algorithm>

namespace smd::sa {
namespace {

/// A vector that doubles copies all that it has. From here on one reservation is enough for the longest
/// table; the pages behind it are taken when they are written.
constexpr std::size_t kGrows = std::size_t{1} << 20U;
constexpr std::size_t kReserved = (std::size_t{64} << 20U) + wire::kMadBytes;

}  // namespace

std::span<std::uint8_t> Records::add() {
  if (mad_.empty()) mad_.resize(wire::kSaDataOffset);
  const auto size = mad_.size() + record_bytes_;
  if (size > kGrows && mad_.capacity() < kReserved) mad_.reserve(std::max(size, kReserved));
  mad_.resize(size);
  return std::span(mad_).last(record_bytes_);
}

Found found(std::uint16_t status, Records records, std::size_t record_bytes) {
  auto mad = records.take();
  if (mad.empty()) mad.resize(wire::kSaDataOffset);
  return {.status = status,
          .record_bytes = record_bytes,
          .mad = std::make_shared<std::vector<std::uint8_t>>(std::move(mad))};
}

Found found(const Answer& answer) {
  std::vector<std::uint8_t> mad(wire::kSaDataOffset);
  mad.insert(mad.end(), answer.records.begin(), answer.records.end());
  return {.status = answer.status,
          .record_bytes = answer.record_bytes,
          .mad = std::make_shared<std::vector<std::uint8_t>>(std::move(mad))};
}

}  // namespace smd::sa
