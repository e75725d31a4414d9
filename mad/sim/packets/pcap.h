// SPDX-License-Identifier: Apache-2.0
#pragma once
// A trace of all MADs as Wireshark reads it: pcap with nanoseconds, link type 247 (LINKTYPE_INFINIBAND of
// tcpdump.org), whole packets from the local route header on.

#include <cstdint>
#include <cstdio>
#include <expected>
#include <functional>
#include <memory>
#include <string>

#include "mad/sim/state/state.h"

namespace smd::sim {

class Pcap {
 public:
  /// Begins the file; an existing one is overwritten. The error is one line.
  static std::expected<std::unique_ptr<Pcap>, std::string> create(const std::string& path);

  /// For Fabric::watch_packets. This must outlive the fabric.
  std::move_only_function<void(const SentPacket&)> watcher();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  explicit Pcap(std::FILE* file) : file_(file) {}
  void write(const SentPacket& packet);

  std::unique_ptr<std::FILE, Close> file_;
  std::uint32_t sequence_ = 0;
};

}  // namespace smd::sim
