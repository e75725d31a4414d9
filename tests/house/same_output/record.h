// SPDX-License-Identifier: Apache-2.0
#pragma once
// What managers have sent into a simulated fabric, from its trace: bytes and times, no type of the product.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "mad/sim/drivers/world.h"

namespace smd::test::same_output {

inline void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (!out.flush()) throw std::runtime_error(path.string() + ": cannot be written");
}

/// Names of attributes of SMPs for people; others as numbers.
inline std::string attribute_name(std::uint16_t attribute) {
  static const std::map<std::uint16_t, std::string_view> kNames{
      {0x0002, "Notice"},     {0x0010, "NodeDescription"}, {0x0011, "NodeInfo"},
      {0x0012, "SwitchInfo"}, {0x0014, "GUIDInfo"},        {0x0015, "PortInfo"},
      {0x0016, "P_KeyTable"}, {0x0017, "SLtoVLMapping"},   {0x0018, "VLArbitration"},
      {0x0019, "LinearFDB"},  {0x001B, "MulticastFDB"},    {0x0020, "SMInfo"},
      {0xFF20, "ARInfo"},     {0xFF90, "ExtPortInfo"}};
  const auto name = kNames.find(attribute);
  return name != kNames.end() ? std::string(name->second) : fmt::format("{:#06x}", attribute);
}

inline std::string method_name(unsigned method) {
  static const std::map<unsigned, std::string_view> kNames{
      {0x01, "Get"}, {0x02, "Set"}, {0x05, "Trap"}, {0x07, "TrapRepress"}, {0x81, "GetResp"}};
  const auto name = kNames.find(method);
  return name != kNames.end() ? std::string(name->second) : fmt::format("{:#04x}", method);
}

class Record {
 public:
  /// Both outlive it. `payloads`: bytes instead of their hashes.
  Record(sim::World& world, const base::Fabric& fabric, bool payloads)
      : world_(world), fabric_(fabric), payloads_(payloads) {
    world.record_trace(true);
  }

  /// What was sent since the last call belongs to this phase. Call it before a client of the fabric ends.
  void take(std::string_view phase) {
    const auto& trace = world_.trace();
    for (; next_ < trace.size(); ++next_) {
      const auto& entry = trace[next_];
      if (!entry.sent || entry.bytes.size() < 256) continue;
      const auto mgmt_class = entry.bytes[1];
      if (mgmt_class == 0x01 || mgmt_class == 0x81) smp(phase, entry);
      if (mgmt_class == 0x03) sa(phase, entry);
    }
  }

  void write(const std::filesystem::path& folder) const {
    std::string counts;
    for (const auto& [what, count] : counts_) counts += fmt::format("{} {}\n", what, count);
    write_file(folder / "smps", counts);
    write_file(folder / "sets", sets_);
    write_file(folder / "sa", sa_);
  }

 private:
  using Bytes = std::span<const std::uint8_t>;
  static std::uint64_t number(Bytes bytes, std::size_t offset, unsigned width) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < width; ++i) value = value << 8U | bytes[offset + i];
    return value;
  }
  static std::uint64_t hash(std::uint64_t value, Bytes bytes) {  // FNV-1a
    for (const auto byte : bytes) value = (value ^ byte) * 0x0000'0100'0000'01B3U;
    return value;
  }
  std::string payload(Bytes head, Bytes body) const {
    if (payloads_) return fmt::format("{:02x}.{:02x}", fmt::join(head, ""), fmt::join(body, ""));
    return fmt::format("{:016x}", hash(hash(0xCBF2'9CE4'8422'2325U, head), body));
  }

  void smp(std::string_view phase, const sim::TraceEntry& entry) {
    const Bytes bytes(entry.bytes);
    const auto attribute = attribute_name(static_cast<std::uint16_t>(number(bytes, 16, 2)));
    const auto from = sender(entry.client);
    ++counts_[fmt::format("{} {} {} {}", phase, from, method_name(bytes[3]), attribute)];
    if (bytes[3] != 0x02) return;
    // M_Key and data; transaction IDs are no part of it.
    sets_ += fmt::format("{} {} {} {} {} {:#x} {}\n", entry.at.time_since_epoch().count(), phase, from,
                         target(entry.client, bytes), attribute, number(bytes, 20, 4),
                         payload(bytes.subspan(24, 8), bytes.subspan(64, 64)));
  }
  /// What subnet administration answers and reports.
  void sa(std::string_view phase, const sim::TraceEntry& entry) {
    const Bytes bytes(entry.bytes);
    if (bytes[3] < 0x80 && bytes[3] != 0x06) return;
    if (bytes[3] == 0x86) return;  // a client's answer to a report
    sa_ += fmt::format("{} {} {:#04x} {:#06x} status {:#x} bytes {} {}\n",
                       entry.at.time_since_epoch().count(), phase, bytes[3], number(bytes, 16, 2),
                       number(bytes, 4, 2), bytes.size(), payload(bytes.subspan(20, 4), bytes.subspan(24)));
  }

  const std::string& sender(sim::ClientId client) {
    auto& name = senders_[client];
    if (!name.empty()) return name;
    const auto end = port_of(client);
    name = end ? token(fabric_.nodes[end->first].name) : "unknown";
    return name;
  }
  std::optional<std::pair<base::NodeIndex, unsigned>> port_of(sim::ClientId client) const {
    const auto guid = static_cast<sim::Carrier&>(world_).local(client).guid;
    for (base::NodeIndex n = 0; n < fabric_.nodes.size(); ++n) {
      const auto& node = fabric_.nodes[n];
      const bool whole = node.type == NodeType::switch_;
      for (unsigned p = whole ? 0 : 1; p < (whole ? 1 : node.ports.size()); ++p) {
        if (base::port_guid(node, PortNum{static_cast<std::uint8_t>(p)}) == guid) return std::pair(n, p);
      }
    }
    return std::nullopt;
  }
  /// The node at the end of the directed path, by the cabling at the start, and the path.
  std::string target(sim::ClientId client, Bytes bytes) const {
    if (bytes[1] != 0x81) return "lid-routed";
    const auto start = port_of(client);
    auto at = start ? std::optional(start->first) : std::nullopt;
    std::string path;
    for (unsigned hop = 1; hop <= bytes[7] && hop < 64; ++hop) {
      const unsigned port = bytes[128 + hop];
      path += fmt::format("{}{}", path.empty() ? "" : ",", port);
      if (!at) continue;
      const auto& ports = fabric_.nodes[*at].ports;
      const auto peer = port < ports.size() ? ports[port].peer : std::nullopt;
      at = peer ? std::optional(peer->node) : std::nullopt;
    }
    return fmt::format("{}[{}]", at ? token(fabric_.nodes[*at].name) : "?", path);
  }
  static std::string token(std::string name) {
    std::ranges::replace(name, ' ', '_');
    return name;
  }

  sim::World& world_;
  const base::Fabric& fabric_;
  bool payloads_ = false;
  std::size_t next_ = 0;
  std::map<std::string, std::uint64_t> counts_;
  std::map<sim::ClientId, std::string> senders_;
  std::string sets_, sa_;
};

}  // namespace smd::test::same_output
