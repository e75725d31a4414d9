// SPDX-License-Identifier: Apache-2.0
#pragma once
// Values as cells of a table, and back.

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "mad/base/gid.h"
#include "mad/base/id.h"
#include "mad/base/parse.h"
#include "smd/store/sqlite.h"

namespace smd::store {

/// Below 2^63.
inline Cell number(std::uint64_t value) { return static_cast<std::int64_t>(value); }
inline Cell guid(Guid value) { return fmt::format("{}", value); }  ///< as text, "0x0002c90000000001"

/// A cell that is a whole number from 0 to `last`.
template <class T>
inline bool read_number(const Cell& cell, std::uint64_t last, T& into) {
  const auto* found = std::get_if<std::int64_t>(&cell);
  if (found == nullptr || *found < 0 || static_cast<std::uint64_t>(*found) > last) return false;
  into = T(static_cast<T>(*found));
  return true;
}

/// False, and `into` of no meaning, where it is no GUID or 0.
inline bool read_guid(const Cell& cell, Guid& into) {
  const auto* text = std::get_if<std::string>(&cell);
  const auto found = text != nullptr ? base::parse_guid(*text) : std::nullopt;
  if (found) into = *found;
  return found && *found != Guid{};
}

/// False where it is no number of 0 to 254.
inline bool read_port(const Cell& cell, PortNum& into) {
  std::uint8_t port = 0;
  if (!read_number(cell, 254, port)) return false;
  into = PortNum{port};
  return true;
}

/// False where it is no unicast LID.
inline bool read_lid(const Cell& cell, Lid& into) {
  std::uint16_t lid = 0;
  if (!read_number(cell, kLastUnicastLid.value(), lid)) return false;
  into = Lid{lid};
  return into.unicast();
}

/// False where it is no text of a GID.
inline bool read_gid(const Cell& cell, Gid& into) {
  const auto* text = std::get_if<std::string>(&cell);
  const auto found = text != nullptr ? base::parse_gid(*text) : std::nullopt;
  if (found) into = *found;
  return found.has_value();
}

}  // namespace smd::store
