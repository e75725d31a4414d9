// SPDX-License-Identifier: Apache-2.0
#pragma once
// Messages over a Unix socket of type SOCK_SEQPACKET, some with a descriptor.

#include <cstdint>
#include <expected>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mad/base/descriptor.h"

namespace smd::sim {

using base::Descriptor;

/// Listens with mode 0660. A stale socket is replaced, one that is served is refused;
/// the error is one line.
std::expected<Descriptor, std::string> listen_at(const std::filesystem::path& path);
/// Connects to a socket that listen_at() made. The error is one line.
std::expected<Descriptor, std::string> connect_to(const std::filesystem::path& path);

/// Never waits. `descriptor`: passed with the message, and stays open here; -1: none. The result is an errno,
/// 0 when sent.
int send_message(int fd, std::span<const std::uint8_t> bytes, int descriptor = -1);

enum class Receipt { message, nothing, ended };
/// Never waits. Takes up to bytes.size() of the next message.
Receipt receive_message(int fd, std::span<std::uint8_t> bytes, std::size_t& size, Descriptor& with);

/// Several messages by one system call.
class Receiver {
 public:
  static constexpr std::size_t kMost = 16;
  /// `longest`: bytes of a message; the rest of a longer one is cut off.
  explicit Receiver(std::size_t longest);
  /// Never waits. How many there were; `ended`: and no more will come.
  std::size_t receive(int fd, bool& ended);
  /// Message of the last receive(), once each: its descriptor, or its end when it is not taken.
  std::span<const std::uint8_t> bytes(std::size_t index) const;
  /// The descriptor that came with the message; none: there was none.
  Descriptor take(std::size_t index);

 private:
  struct Buffers;
  struct Delete {
    void operator()(Buffers* buffers) const;
  };
  std::size_t longest_;
  std::unique_ptr<Buffers, Delete> buffers_;
};

/// A memory file (memfd) with this content; no descriptor where the system refuses.
Descriptor memory_file(std::span<const std::uint8_t> content);

/// The text's own bytes, without a copy.
inline std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// All of a regular file of at most `most` bytes; nothing else.
std::expected<std::vector<std::uint8_t>, int> read_memory(int fd, std::size_t most);

}  // namespace smd::sim
