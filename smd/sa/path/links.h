// SPDX-License-Identifier: Apache-2.0
#pragma once
// The fabric's links side by side: a path is followed through them without a look at the nodes.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "mad/base/link.h"
#include "mad/base/rate.h"
#include "smd/sweep/subnet.h"

namespace smd::sa {

struct EndPort;

inline constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

/// The largest MTU and the fastest rate that something carries, as numbers that are narrowed by their
/// minimum.
struct Carried {
  static constexpr std::uint8_t kAny = 0xFF;  ///< it does not say
  std::uint8_t mtu = kAny;                    ///< IBA's code
  std::uint8_t rate = kAny;                   ///< place in kStaticRates

  /// Takes the smaller MTU and the slower rate.
  void narrow(Carried other) {
    mtu = std::min(mtu, other.mtu);
    rate = std::min(rate, other.rate);
  }
  friend bool operator==(const Carried&, const Carried&) = default;
};

/// What a port says of its link, or of itself: `mtu` is its NeighborMTU or its MTUCap.
Carried carried_by(const sm::Port& port, Mtu mtu);

/// One direction of a link: where it leads, and what both of its ends carry.
struct Link {
  std::uint32_t to = kNowhere;  ///< a switch, by its place among the Subnet's switches, or an end port by its
  bool to_end = false;
  Carried carried;

  bool leads() const { return to != kNowhere; }  ///< to a switch or an end port
};

/// Of one Subnet's nodes and one list of end ports; from then on read by any thread.
class Links {
 public:
  /// `ends` in the order of Directory::end_ports(). Neither is referred to afterwards.
  Links(const sm::Subnet& subnet, std::span<const EndPort> ends);

  /// Out of a switch's port; one that leads nowhere where there is none.
  Link out_of(std::uint32_t sw, std::uint8_t port) const {
    const auto at = first_[sw] + port;
    return at < first_[sw + 1] ? links_[at] : Link{};
  }
  /// Out of an adapter's or router's end port.
  const Link& out_of_end(std::uint32_t end) const { return ends_[end]; }
  /// How many links there are between switches, and from end ports to switches.
  std::size_t inner_links() const { return inner_links_; }
  std::size_t outer_links() const { return outer_links_; }
  /// From every switch links lead to every other.
  bool connected() const { return connected_; }
  /// What each of the links between switches carries; nothing where they differ. Without any: whatever one
  /// likes.
  const std::optional<Carried>& inner() const { return inner_; }
  /// What an end port carries that has no link on the way: port 0 of a switch, or any port to itself.
  Carried of_end(std::uint32_t end) const { return own_[end]; }

 private:
  std::vector<std::uint32_t> first_;  ///< by switch: its port 0 in links_
  std::vector<Link> links_;
  std::vector<Link> ends_;
  std::vector<Carried> own_;
  std::size_t inner_links_ = 0, outer_links_ = 0;
  bool connected_ = true;
  std::optional<Carried> inner_ = Carried{};
  void look_at_inner();
};

}  // namespace smd::sa
