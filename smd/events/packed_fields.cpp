// SPDX-License-Identifier: Apache-2.0
#include "smd/events/packed_fields.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace smd::events {
namespace {

using Length = std::uint32_t;
constexpr std::size_t kHead = 1 + 2 * sizeof(Length);

void append_length(std::string& out, std::size_t length) {
  const auto value = static_cast<Length>(length);
  std::array<char, sizeof(Length)> bytes{};
  std::memcpy(bytes.data(), &value, sizeof(Length));
  out.append(bytes.data(), bytes.size());
}

/// Takes `length` bytes from the front of `rest`.
std::string_view take(std::string_view& rest, std::size_t length) {
  const auto front = rest.substr(0, length);
  rest.remove_prefix(length);
  return front;
}

std::size_t take_length(std::string_view& rest) {
  Length value = 0;
  std::memcpy(&value, take(rest, sizeof(Length)).data(), sizeof(Length));
  return value;
}

}  // namespace

PackedFields::PackedFields(const std::vector<log::Field>& fields) {
  std::size_t bytes = 0;
  for (const auto& field : fields) bytes += kHead + field.key.size() + field.value.size();
  packed_.reserve(bytes);
  for (const auto& field : fields) {
    packed_ += field.bare ? '\1' : '\0';
    append_length(packed_, field.key.size());
    append_length(packed_, field.value.size());
    packed_ += field.key;
    packed_ += field.value;
  }
}

std::vector<log::Field> PackedFields::unpack() const {
  std::vector<log::Field> fields;
  std::string_view rest = packed_;
  while (!rest.empty()) {
    const bool bare = take(rest, 1).front() != '\0';
    const auto key = take_length(rest), value = take_length(rest);
    auto& field = fields.emplace_back();
    field.key = take(rest, key);
    field.value = take(rest, value);
    field.bare = bare;
  }
  return fields;
}

}  // namespace smd::events
