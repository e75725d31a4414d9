// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/packets/segments.h"

#include <algorithm>

#include "mad/sim/agents/dispatch.h"
#include "mad/wire/mad.h"

namespace smd::sim {
namespace {

// Of the RMPP header, and what stands in it.
constexpr std::size_t kVersionAt = 24, kTypeAt = 25, kFlagsAt = 26, kSegmentAt = 28, kLengthAt = 32;
constexpr std::uint8_t kVersion = 1, kData = 1, kInUse = 1, kFirst = 2, kLast = 4, kTime = 0xF8;
constexpr std::size_t kSegmentBytes = 220;  ///< behind the RMPP header: what its lengths count

std::uint8_t class_at(std::span<const std::uint8_t> mad) { return mad[1]; }

void put_number(std::span<std::uint8_t> bytes, std::size_t at, std::size_t value) {
  for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<std::uint8_t>(value >> (24 - 8 * i));
}

/// How the data behind the headers is divided.
struct Division {
  std::size_t headers, room, segments, padding;  ///< padding: of the last segment
};

Division division_of(std::span<const std::uint8_t> mad) {
  const auto headers = data_offset(class_at(mad));
  const auto room = wire::kMadBytes - headers;
  const auto data = mad.size() - std::min(mad.size(), headers);
  const auto segments = std::max<std::size_t>(1, (data + room - 1) / room);
  return {headers, room, segments, segments * room - data};
}

void write_rmpp(std::span<std::uint8_t> mad, const Division& division, std::size_t number) {
  const bool first = number == 1, last = number == division.segments;
  mad[kVersionAt] = kVersion;
  mad[kTypeAt] = kData;
  mad[kFlagsAt] = static_cast<std::uint8_t>((mad[kFlagsAt] & kTime) | kInUse | (first ? kFirst : 0U) |
                                            (last ? kLast : 0U));
  put_number(mad, kSegmentAt, number);
  // The first says how long the whole is, the last how much of it is filled, those between nothing.
  const auto whole = first ? division.segments * kSegmentBytes : last ? kSegmentBytes : 0;
  put_number(mad, kLengthAt, whole - (whole != 0 ? division.padding : 0));
}

}  // namespace

bool is_rmpp(std::span<const std::uint8_t> mad) {
  return mad.size() >= kLengthAt + 4 && has_rmpp(class_at(mad)) && (mad[kFlagsAt] & kInUse) != 0;
}

std::size_t segments_of(std::span<const std::uint8_t> mad) {
  return mad.size() > wire::kMadBytes && is_rmpp(mad) ? division_of(mad).segments : 1;
}

void complete_rmpp(std::span<std::uint8_t> mad) { write_rmpp(mad, division_of(mad), 1); }

std::vector<std::uint8_t> segment_of(std::span<const std::uint8_t> mad, std::size_t number) {
  if (segments_of(mad) == 1) return {mad.begin(), mad.end()};
  const auto division = division_of(mad);
  const auto data = mad.subspan(division.headers);
  const auto from = std::min((number - 1) * division.room, data.size());
  const auto part = data.subspan(from, std::min(division.room, data.size() - from));
  std::vector<std::uint8_t> segment(mad.begin(), mad.begin() + static_cast<std::ptrdiff_t>(division.headers));
  segment.insert(segment.end(), part.begin(), part.end());
  segment.resize(wire::kMadBytes);
  write_rmpp(segment, division, number);
  return segment;
}

}  // namespace smd::sim
