// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/umad_server/ask.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "mad/sim/attach/protocol.h"
#include "mad/sim/umad_server/seqpacket.h"

namespace smd::sim {
namespace {

constexpr unsigned kTries = 20;
constexpr int kPauseMs = 50;
constexpr std::size_t kMostText = 1U << 30U;

class Asker {
 public:
  Asker(Descriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  std::expected<Answer, std::string> hello(attach::Kind kind, std::string_view places) {
    attach::Hello hello{
        .magic = {}, .kind = kind, .index = 0, .wait = 0, .pid = static_cast<std::uint32_t>(::getpid())};
    std::memcpy(hello.magic, attach::kHelloMagic, sizeof(hello.magic));
    std::vector<std::uint8_t> bytes(sizeof(hello));
    std::memcpy(bytes.data(), &hello, sizeof(hello));
    if (constexpr auto kMost = attach::kLongestHello - sizeof(hello); places.size() > kMost)
      return std::unexpected(
          fmt::format("found nodes with names of {} bytes, allowed {}", places.size(), kMost));
    bytes.insert(bytes.end(), bytes_of(places).begin(), bytes_of(places).end());
    return ask(bytes);
  }

  std::expected<Answer, std::string> ask(std::span<const std::uint8_t> question) {
    const auto whole = question.size() > attach::kInlineText ? memory_file(question) : Descriptor();
    const auto first = question.first(std::min(question.size(), attach::kInlineText));
    if (const int error = send_message(fd_.get(), first, whole.get()))
      return std::unexpected(fmt::format("{}: {}", path_, std::strerror(error)));
    pollfd wait{.fd = fd_.get(), .events = POLLIN, .revents = 0};
    ::poll(&wait, 1, -1);
    const auto length = ::recv(fd_.get(), nullptr, 0, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(std::max<ssize_t>(length, 1)));
    std::size_t size = 0;
    Descriptor with;
    attach::Reply reply{};
    if (receive_message(fd_.get(), bytes, size, with) != Receipt::message || size < sizeof(reply))
      return std::unexpected(fmt::format("{}: the fabric has ended", path_));
    std::memcpy(&reply, bytes.data(), sizeof(reply));
    bytes.erase(bytes.begin(), bytes.begin() + sizeof(reply));
    if (with) bytes = read_memory(with.get(), kMostText).value_or(std::vector<std::uint8_t>{});
    return Answer{.done = reply.error == 0, .text = {bytes.begin(), bytes.end()}};
  }

 private:
  Descriptor fd_;
  std::string path_;
};

std::expected<Asker, std::string> asker(const std::filesystem::path& socket) {
  auto fd = connect_to(socket);
  for (unsigned tries = 0; !fd && tries < kTries; ++tries) {  // in a script it was started a moment ago
    ::poll(nullptr, 0, kPauseMs);
    fd = connect_to(socket);
  }
  if (!fd) return std::unexpected(fmt::format("{}: is a fabric served there? (smd sim FABRIC)", fd.error()));
  return Asker(std::move(*fd), socket.string());
}

}  // namespace

std::expected<Answer, std::string> ask_command(const std::filesystem::path& socket,
                                               std::string_view command) {
  auto asking = asker(socket);
  if (!asking) return std::unexpected(asking.error());
  if (auto greeted = asking->hello(attach::Kind::control, ""); !greeted || !greeted->done) return greeted;
  return asking->ask(bytes_of(command));
}

std::expected<Answer, std::string> ask_places(const std::filesystem::path& socket, std::string_view places) {
  auto asking = asker(socket);
  if (!asking) return std::unexpected(asking.error());
  return asking->hello(attach::Kind::tree, places);
}

}  // namespace smd::sim
