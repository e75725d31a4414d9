// SPDX-License-Identifier: Apache-2.0
#pragma once
// A client of subnet administration that knows bytes only, so that no type of the product changes what it
// sends. Offsets and component masks as in libopensm's ib_types.h.

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mad/base/gid.h"
#include "mad/sim/drivers/world.h"

namespace smd::test::same_output {

enum Method : std::uint8_t { kGet = 0x01, kSet = 0x02, kReport = 0x06, kGetTable = 0x12, kDelete = 0x15 };

/// Records of subnet administration by attribute; GetTable of each without a component gives all of them.
inline constexpr std::array<std::uint16_t, 15> kTables{0x11, 0x12, 0x13, 0x14, 0x15, 0x17, 0x18, 0x20,
                                                       0x30, 0x31, 0x33, 0x36, 0x38, 0xF3, 0x01};

/// A request of 256 bytes.
class Request {
 public:
  Request(Method method, std::uint16_t attribute, std::uint64_t mask = 0) : bytes_(256) {
    put(0, {1, 3, 2, method});
    number(16, attribute, 2);
    number(8, 0x1234, 8);
    number(48, mask, 8);
  }
  /// `offset` within the record.
  Request& with(std::size_t offset, std::uint64_t value, unsigned width) {
    number(56 + offset, value, width);
    return *this;
  }
  Request& with(std::size_t offset, std::span<const std::uint8_t> value) {
    std::ranges::copy(value, bytes_.begin() + 56 + static_cast<std::ptrdiff_t>(offset));
    return *this;
  }
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  void put(std::size_t offset, std::initializer_list<std::uint8_t> values) {
    std::ranges::copy(values, bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  void number(std::size_t offset, std::uint64_t value, unsigned width) {
    for (unsigned i = 0; i < width; ++i) {
      bytes_[offset + i] = static_cast<std::uint8_t>(value >> (8 * (width - 1 - i)));
    }
  }
  std::vector<std::uint8_t> bytes_;
};

/// Answers reports, because a subscriber that does not is forgotten.
class Client {
 public:
  Client(sim::World& world, const sim::Place& place, mad::LidRoute sm)
      : transport_(world.transport(place, sim::Interface::gsi)), sm_(sm) {
    transport_->on_receive([this](std::span<mad::Received> batch) {
      for (auto& mad : batch) {
        if (mad.error != 0 || mad.bytes.size() < 256 || mad.bytes[3] != kReport) continue;
        mad.bytes[3] |= 0x80U;
        send(mad.bytes);
      }
    });
  }
  void send(const std::vector<std::uint8_t>& bytes) {
    (void)transport_->send(bytes, sm_, std::chrono::milliseconds(1000));
  }
  void send(const Request& request) { send(request.bytes()); }

  std::array<std::uint8_t, 16> gid() const {
    std::array<std::uint8_t, 16> gid{0xFE, 0x80};
    const auto guid = transport_->local()->guid.value();
    for (unsigned i = 0; i < 8; ++i) gid[8 + i] = static_cast<std::uint8_t>(guid >> (56 - 8 * i));
    return gid;
  }
  std::uint16_t lid() const { return transport_->local()->lid.value(); }

 private:
  std::unique_ptr<sim::Transport> transport_;
  mad::LidRoute sm_;
};

/// MCMemberRecord with MGID, PortGID and JoinState; `makes`: with all that a new group needs, too.
inline Request membership(Method method, const Client& client, std::string_view mgid, unsigned state,
                          bool makes = false) {
  constexpr std::uint64_t kMember = 1U << 0U | 1U << 1U | 1U << 16U;
  constexpr std::uint64_t kTerms =
      1U << 2U | 1U << 6U | 1U << 7U | 1U << 12U | 1U << 13U;  // Q_Key to FlowLabel
  Request request(method, 0x38, makes ? kMember | kTerms : kMember);
  request.with(0, base::parse_gid(mgid)->bytes).with(16, client.gid()).with(48, state, 1);
  if (makes) request.with(32, 0x0b1b, 4).with(40, 0xFFFF, 2);
  return request;
}

}  // namespace smd::test::same_output
