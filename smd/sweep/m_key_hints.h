// SPDX-License-Identifier: Apache-2.0
#pragma once
// With which M_Key a port is asked: the one that it has shown, or before that one that it may have.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "mad/transactions/ask.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline sweeping {

/// What is known of M_Keys before a port has shown its own. Both functions may be empty.
struct MKeyHints {
  /// Keys that this port (port GUID; 0: an unknown one) may have, the likeliest first, none twice and none 0.
  std::function<std::vector<std::uint64_t>(Guid port)> likely{};
  /// GUID of the port that was behind this one when that was seen last, in this process or before; 0: none.
  std::function<Guid(const PeerPort& behind)> was_behind{};
  Guid own{};  ///< port GUID of our own port; 0: not known

  /// likely(port); empty where that function is empty.
  std::vector<std::uint64_t> of(Guid port) const;
  /// Keys to try with the port behind `from` (nothing: our own port), at least one; 0 alone where none is
  /// known. `before` (may be null): the last Subnet.
  std::vector<std::uint64_t> at(const Subnet* before, const std::optional<PeerPort>& from) const;
};

/// The M_Key that SMPs to this port of the node need, as far as it has shown one: a switch has one for all
/// its ports. Port 0 of a CA or router: of the first port that has shown one.
std::uint64_t m_key_of(const Node& node, PortNum port);

/// Where to ask this port of the node, with its M_Key.
mad::Target target_of(const Node& node, PortNum port, mad::Route route);
/// The same, without an M_Key where the Subnet has no such port.
mad::Target target_of(const Subnet& subnet, const PeerPort& at, mad::Route route);

}  // namespace smd::sm::inline sweeping
