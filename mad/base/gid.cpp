// SPDX-License-Identifier: Apache-2.0
#include "mad/base/gid.h"

#include <arpa/inet.h>

#include <algorithm>

namespace smd {
namespace {

std::uint64_t big_endian(const std::uint8_t* bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value = value << 8U | bytes[i];
  return value;
}

void put_big_endian(std::uint8_t* bytes, std::uint64_t value) {
  for (int i = 7; i >= 0; --i, value >>= 8U) bytes[i] = static_cast<std::uint8_t>(value);
}

std::string as_ipv6(const GidBytes& bytes) {
  char text[INET6_ADDRSTRLEN];
  return inet_ntop(AF_INET6, bytes.data(), text, sizeof text);
}

std::optional<GidBytes> from_ipv6(std::string_view text) {
  char copy[INET6_ADDRSTRLEN] = {};  // inet_pton wants a terminated string; longer texts are no addresses
  if (text.size() >= sizeof copy) return std::nullopt;
  std::ranges::copy(text, copy);
  GidBytes bytes{};
  if (text.find('\0') != std::string_view::npos || inet_pton(AF_INET6, copy, bytes.data()) != 1)
    return std::nullopt;
  return bytes;
}

}  // namespace

Gid Gid::of(std::uint64_t prefix, Guid guid) {
  Gid gid;
  put_big_endian(gid.bytes.data(), prefix);
  put_big_endian(gid.bytes.data() + 8, guid.value());
  return gid;
}

std::uint64_t Gid::prefix() const { return big_endian(bytes.data()); }
Guid Gid::guid() const { return Guid{big_endian(bytes.data() + 8)}; }

std::string to_string(const Gid& gid) { return as_ipv6(gid.bytes); }
std::string to_string(const Mgid& mgid) { return as_ipv6(mgid.bytes); }

namespace base {

std::optional<Gid> parse_gid(std::string_view text) {
  const auto bytes = from_ipv6(text);
  if (!bytes) return std::nullopt;
  return Gid{*bytes};
}

std::optional<Mgid> parse_mgid(std::string_view text) {
  const auto bytes = from_ipv6(text);
  if (!bytes || (*bytes)[0] != 0xff) return std::nullopt;
  return Mgid{*bytes};
}

}  // namespace base
}  // namespace smd
