// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which M_Key a port is to have.

#include <cstdint>
#include <optional>

#include "mad/base/id.h"

namespace smd::sm::inline common {

/// What the configuration says of M_Keys, for all ports alike.
struct MKeySettings {
  /// The M_Key, or what those of the ports are derived from; 0: no port is to have one. Nothing: M_Keys stay
  /// as another SM has left them.
  std::optional<std::uint64_t> secret{};
  bool per_port = false;    ///< each port has a key of its own
  std::uint8_t level = 0;   ///< M_KeyProtectBits, 0 to 3
  std::uint16_t lease = 0;  ///< M_KeyLeasePeriod in seconds; 0: for ever
  /// Another secret by which ports may have their keys, with its form: they are only asked with those.
  std::optional<std::uint64_t> former_secret{};
  bool former_per_port = false;
  friend bool operator==(const MKeySettings&, const MKeySettings&) = default;

  /// The M_Key of the port with this port GUID; nothing: as it is.
  std::optional<std::uint64_t> key_of(Guid port) const;
};

/// The first 64 bits of HMAC-SHA-256 (RFC 2104) of the port GUID under the secret, both with the most
/// significant byte first; 1 where those are 0.
std::uint64_t derived_m_key(std::uint64_t secret, Guid port);

}  // namespace smd::sm::inline common
