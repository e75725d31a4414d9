// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/umad_server/seqpacket.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace smd::sim {
namespace {

std::expected<sockaddr_un, std::string> address_of(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto text = path.string();
  if (text.empty() || text.size() >= sizeof(address.sun_path)) {
    return std::unexpected(
        fmt::format("{}: the path of a socket has 1 to {} bytes", text, sizeof(address.sun_path) - 1));
  }
  text.copy(address.sun_path, text.size());
  return address;
}

std::string reason(const std::filesystem::path& path) {
  return fmt::format("{}: {}", path.string(), std::strerror(errno));
}

Descriptor seqpacket() { return Descriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)); }

constexpr std::size_t kFew = 8;  // descriptors of a message; no message has more than one
struct Control {
  alignas(cmsghdr) char bytes[CMSG_SPACE(kFew * sizeof(int))];
};

msghdr message_of(iovec& part, Control& control) {
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof(control.bytes);
  return message;
}

/// The last one that came; all others are closed.
Descriptor descriptor_of(msghdr& message) {
  Descriptor last;
  for (auto* head = CMSG_FIRSTHDR(&message); head != nullptr; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    const auto count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int came = -1;
      std::memcpy(&came, CMSG_DATA(head) + i * sizeof(int), sizeof(int));
      last = Descriptor(came);
    }
  }
  return last;
}

bool connects(int fd, const sockaddr_un& address) {
  return ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

}  // namespace

std::expected<Descriptor, std::string> connect_to(const std::filesystem::path& path) {
  const auto address = address_of(path);
  if (!address) return std::unexpected(address.error());
  auto fd = seqpacket();
  if (!fd || !connects(fd.get(), *address)) return std::unexpected(reason(path));
  return fd;
}

std::expected<Descriptor, std::string> listen_at(const std::filesystem::path& path) {
  const auto address = address_of(path);
  if (!address) return std::unexpected(address.error());
  if (connect_to(path))
    return std::unexpected(fmt::format("{}: another simulated fabric is served there", path.string()));
  std::error_code ignored;
  if (std::filesystem::is_socket(path, ignored)) std::filesystem::remove(path, ignored);
  auto fd = Descriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  constexpr int kBacklog = 1024;
  if (!fd || ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof(*address)) != 0 ||
      ::chmod(path.c_str(), 0660) != 0 || ::listen(fd.get(), kBacklog) != 0) {
    return std::unexpected(reason(path));
  }
  return fd;
}

int send_message(int fd, std::span<const std::uint8_t> bytes, int descriptor) {
  iovec part{const_cast<std::uint8_t*>(bytes.data()), bytes.size()};  // NOLINT(*-const-cast)
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    auto* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(head), &descriptor, sizeof(int));
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent < 0 ? errno : 0;
}

Receipt receive_message(int fd, std::span<std::uint8_t> bytes, std::size_t& size, Descriptor& with) {
  iovec part{bytes.data(), bytes.size()};
  Control control{};
  auto message = message_of(part, control);
  ssize_t got = 0;
  do {
    got = ::recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return errno == EAGAIN ? Receipt::nothing : Receipt::ended;
  with = descriptor_of(message);
  if (got == 0) return Receipt::ended;
  size = static_cast<std::size_t>(got);
  return Receipt::message;
}

struct Receiver::Buffers {
  explicit Buffers(std::size_t longest) : bytes(kMost * longest) {}
  std::vector<std::uint8_t> bytes;
  std::array<iovec, kMost> parts{};
  std::array<Control, kMost> controls{};
  std::array<mmsghdr, kMost> messages{};
};

void Receiver::Delete::operator()(Buffers* buffers) const { delete buffers; }

Receiver::Receiver(std::size_t longest) : longest_(longest), buffers_(new Buffers(longest)) {}

std::size_t Receiver::receive(int fd, bool& ended) {
  auto& b = *buffers_;
  for (std::size_t i = 0; i < kMost; ++i) {
    b.parts[i] = {b.bytes.data() + i * longest_, longest_};
    b.messages[i] = {.msg_hdr = message_of(b.parts[i], b.controls[i]), .msg_len = 0};
  }
  int got = 0;
  do {
    got = ::recvmmsg(fd, b.messages.data(), kMost, MSG_DONTWAIT | MSG_CMSG_CLOEXEC, nullptr);
  } while (got < 0 && errno == EINTR);
  ended = got < 0 && errno != EAGAIN;
  std::size_t count = 0;
  for (; static_cast<int>(count) < got && !ended; ++count) {
    ended = b.messages[count].msg_len == 0;
    if (ended) break;
  }
  for (auto rest = static_cast<int>(count); rest < got; ++rest)
    descriptor_of(b.messages[static_cast<std::size_t>(rest)].msg_hdr);
  return count;
}

std::span<const std::uint8_t> Receiver::bytes(std::size_t index) const {
  return std::span(buffers_->bytes).subspan(index * longest_, buffers_->messages[index].msg_len);
}

Descriptor Receiver::take(std::size_t index) { return descriptor_of(buffers_->messages[index].msg_hdr); }

Descriptor memory_file(std::span<const std::uint8_t> content) {
  auto fd = Descriptor(::memfd_create("smd-sim", MFD_CLOEXEC));
  std::size_t done = 0;
  while (fd && done < content.size()) {
    const auto wrote =
        ::pwrite(fd.get(), content.data() + done, content.size() - done, static_cast<off_t>(done));
    if (wrote <= 0) return {};
    done += static_cast<std::size_t>(wrote);
  }
  return fd;
}

std::expected<std::vector<std::uint8_t>, int> read_memory(int fd, std::size_t most) {
  struct stat status{};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return std::unexpected(EINVAL);
  if (status.st_size < 0 || static_cast<std::size_t>(status.st_size) > most) return std::unexpected(ENOMEM);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(status.st_size));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto got = ::pread(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (got <= 0) return std::unexpected(EIO);
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

}  // namespace smd::sim
