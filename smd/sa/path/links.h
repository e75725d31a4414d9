// SPDX-License-Identifier: Apache-2.0
#pragma once
// The fabric's links side by side: a path is followed through them without a look at the nodes.

#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include "mad/base/link.h"
#include "mad/base/rate.h"
#include "smd/sweep/subnet.h"

namespace smd::sa {

struct EndPort;

inline constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

/// One direction of a link: where it leads, and what both of its ends carry.
struct Link {
  std::uint32_t sw = kNowhere;   ///< a switch, by its place among the Subnet's switches
  std::uint32_t end = kNowhere;  ///< else a port of an adapter or a router, by its place among the end ports
  StaticRate rate;               ///< code 0: it does not say
  Mtu mtu = Mtu::none;

  bool leads() const { return sw != kNowhere || end != kNowhere; }
};

/// Of one Subnet's nodes and one list of end ports; from then on read by any thread.
class Links {
 public:
  Links(const sm::Subnet& subnet, std::span<const EndPort> ends);

  /// Out of a switch's port; null: it has none.
  const Link* out_of(std::uint32_t sw, std::uint8_t port) const {
    const auto at = first_[sw] + port;
    return at < first_[sw + 1] && links_[at].leads() ? &links_[at] : nullptr;
  }
  /// Out of an adapter's or router's end port.
  const Link& out_of_end(std::uint32_t end) const { return ends_[end]; }

 private:
  std::vector<std::uint32_t> first_;  ///< by switch: its port 0 in links_
  std::vector<Link> links_;
  std::vector<Link> ends_;
};

/// What a link with these two ends carries, and which way it leads is left open.
Link carried(const sm::Port& here, const sm::Port& there);

}  // namespace smd::sa
