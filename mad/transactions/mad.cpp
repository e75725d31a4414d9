// SPDX-License-Identifier: Apache-2.0
#include "mad/transactions/mad.h"

#include <algorithm>

namespace smd::mad {
namespace {

constexpr std::size_t kMethod = 3, kStatus = 4, kHopPointer = 6, kHopCount = 7, kMKey = 24, kDrSlid = 32,
                      kDrDlid = 34, kInitialPath = 128, kReturnPath = 192, kPathBytes = 64;
constexpr std::uint16_t kDirection = 0x8000;

}  // namespace

void write_route(Mad& mad, const Route& route) {
  const auto mgmt_class = header::mgmt_class(mad);
  if (mgmt_class != kSmLidRouted && mgmt_class != kSmDirected) return;
  const auto* path = std::get_if<DirectedPath>(&route);
  mad[1] = path == nullptr ? kSmLidRouted : kSmDirected;
  if (path == nullptr) return;
  mad[kHopPointer] = 0;
  mad[kHopCount] = static_cast<std::uint8_t>(path->hops());
  header::store(mad, kDrSlid, kPermissiveLid.value());
  header::store(mad, kDrDlid, kPermissiveLid.value());
  std::fill_n(mad.begin() + kInitialPath, 2 * kPathBytes, std::uint8_t{0});
  for (std::size_t hop = 0; hop < path->hops(); ++hop) mad[kInitialPath + 1 + hop] = path->hop(hop).value();
}

void write_reply_header(Mad& reply, std::span<const std::uint8_t> request) {
  const auto status = header::load<std::uint16_t>(reply, kStatus);
  const auto response = header::response_to(header::method(request));
  std::copy_n(request.begin(), header::kBytes, reply.begin());
  reply[kMethod] = response;
  header::store(reply, kStatus, status);
  if (header::mgmt_class(request) != kSmDirected) return;
  header::store(reply, kStatus, static_cast<std::uint16_t>(status | kDirection));
  const auto from = static_cast<std::ptrdiff_t>(kDrSlid);
  std::copy_n(request.begin() + from, 4, reply.begin() + from);
  std::copy_n(request.begin() + kInitialPath, 2 * kPathBytes, reply.begin() + kInitialPath);
  static_assert(kReturnPath == kInitialPath + kPathBytes && kMKey == header::kBytes);
}

}  // namespace smd::mad
