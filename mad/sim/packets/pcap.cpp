// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/packets/pcap.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "mad/sim/packets/segments.h"

namespace smd::sim {
namespace {

constexpr std::uint32_t kMagic = 0xA1B2'3C4D, kInfiniband = 247, kLongest = 65'535;

/// The machine's order: the magic number tells readers which it is.
template <class T>
void put(std::vector<std::uint8_t>& bytes, T value) {
  std::array<std::uint8_t, sizeof(T)> raw{};
  std::memcpy(raw.data(), &value, sizeof(T));
  bytes.insert(bytes.end(), raw.begin(), raw.end());
}

/// The wire's order.
void put_wire(std::vector<std::uint8_t>& bytes, std::uint32_t value, unsigned size) {
  for (unsigned i = size; i-- > 0;) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

/// Global route header (IBA 8.3, as Wireshark's packet-infiniband.c reads it); `behind` bytes follow it.
void put_grh(std::vector<std::uint8_t>& bytes, const mad::GlobalRoute& grh, const GidBytes& sgid,
             std::size_t behind) {
  constexpr std::uint32_t kVersion = 6, kBaseTransport = 0x1B;
  put_wire(bytes, kVersion << 28U | std::uint32_t{grh.traffic_class} << 20U | grh.flow_label, 4);
  put_wire(bytes, static_cast<std::uint32_t>(behind), 2);
  put_wire(bytes, kBaseTransport, 1);
  put_wire(bytes, grh.hop_limit, 1);
  bytes.insert(bytes.end(), sgid.begin(), sgid.end());
  bytes.insert(bytes.end(), grh.dgid.begin(), grh.dgid.end());
}

/// Local and global route header, base transport header and datagram header, as IBA 7.7, 9.2 and 9.3.3 have
/// them (and Wireshark reads them), then the MAD. The two checksums are 0: nothing is damaged here.
std::vector<std::uint8_t> wire_packet(const SentPacket& packet, std::span<const std::uint8_t> mad,
                                      std::uint32_t sequence) {
  constexpr std::uint32_t kLrh = 8, kGrh = 40, kTransport = 12 + 8, kIcrc = 4, kUdSendOnly = 0x64;
  const std::uint32_t padding = static_cast<std::uint32_t>((4 - mad.size() % 4) % 4);
  const auto behind = kTransport + mad.size() + padding + kIcrc;
  const auto words = (kLrh + (packet.grh ? kGrh : 0U) + behind) / 4;
  const std::uint32_t next = packet.grh ? 3U : 2U;
  std::vector<std::uint8_t> bytes;
  put_wire(bytes, packet.smp ? 0xF0U : 0U, 1);  // VL, link version
  put_wire(bytes, (std::uint32_t{packet.sl.value()} << 4U) | next, 1);
  put_wire(bytes, packet.dlid.value(), 2);
  put_wire(bytes, static_cast<std::uint32_t>(words & 0x7FFU), 2);
  put_wire(bytes, packet.slid.value(), 2);
  if (packet.grh) put_grh(bytes, *packet.grh, packet.sgid, behind);
  put_wire(bytes, kUdSendOnly, 1);
  put_wire(bytes, 0x40U | padding << 4U, 1);  // migrated; bytes of padding; version 0
  put_wire(bytes, packet.pkey.value(), 2);
  put_wire(bytes, packet.qp, 4);
  put_wire(bytes, sequence & 0xFF'FFFFU, 4);
  put_wire(bytes, packet.smp ? 0U : 0x8001'0000U, 4);
  put_wire(bytes, packet.smp ? 0U : 1U, 4);
  bytes.insert(bytes.end(), mad.begin(), mad.end());
  bytes.resize(bytes.size() + padding + kIcrc + 2);
  return bytes;
}

}  // namespace

std::expected<std::unique_ptr<Pcap>, std::string> Pcap::create(const std::string& path) {
  auto* file = std::fopen(path.c_str(), "wbe");
  if (file == nullptr) return std::unexpected(fmt::format("{}: {}", path, std::strerror(errno)));
  std::setvbuf(file, nullptr, _IONBF, 0);  // whole packets, whenever the file is read
  std::unique_ptr<Pcap> pcap(new Pcap(file));
  std::vector<std::uint8_t> head;
  put(head, kMagic);
  put(head, std::uint16_t{2});
  put(head, std::uint16_t{4});
  put(head, std::uint64_t{0});  // time zone, accuracy
  put(head, kLongest);
  put(head, kInfiniband);
  std::fwrite(head.data(), 1, head.size(), file);
  return pcap;
}

std::move_only_function<void(const SentPacket&)> Pcap::watcher() {
  return [this](const SentPacket& packet) { write(packet); };
}

void Pcap::write(const SentPacket& packet) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now);
  for (std::size_t number = 1, all = segments_of(packet.mad); number <= all; ++number) {
    const auto bytes = wire_packet(packet, segment_of(packet.mad, number), sequence_++);
    const auto kept = std::min<std::size_t>(bytes.size(), kLongest);
    std::vector<std::uint8_t> record;
    put(record, static_cast<std::uint32_t>(seconds.count()));
    put(record, static_cast<std::uint32_t>(std::chrono::nanoseconds(now - seconds).count()));
    put(record, static_cast<std::uint32_t>(kept));
    put(record, static_cast<std::uint32_t>(bytes.size()));
    record.insert(record.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(kept));
    std::fwrite(record.data(), 1, record.size(), file_.get());
  }
}

}  // namespace smd::sim
