// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/attach/connection.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "mad/sim/attach/real.h"

namespace smd::sim::attach {
namespace {

bool socket_address(sockaddr_un& address) {
  const char* path = getenv(kSocketVariable);
  if (path == nullptr || strlen(path) >= sizeof(address.sun_path)) return false;
  address = {};
  address.sun_family = AF_UNIX;
  strcpy(address.sun_path, path);
  return true;
}

Opened failed(int fd, int error) {
  if (fd >= 0) raw_close(fd);
  errno = error;
  return {};
}

}  // namespace

bool attached() { return getenv(kSocketVariable) != nullptr && getenv(kPlacesVariable) != nullptr; }

bool is_connection(int fd) {
  int type = 0;
  socklen_t size = sizeof(type);
  if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET) return false;
  sockaddr_un ours{}, theirs{};
  size = sizeof(theirs);
  if (!socket_address(ours) || getpeername(fd, reinterpret_cast<sockaddr*>(&theirs), &size) != 0)
    return false;
  return theirs.sun_family == AF_UNIX && strncmp(ours.sun_path, theirs.sun_path, sizeof(ours.sun_path)) == 0;
}

ssize_t send_all(int fd, const void* bytes, size_t size, int descriptor) {
  iovec part{const_cast<void*>(bytes), size};
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
    memcpy(CMSG_DATA(head), &descriptor, sizeof(int));
  }
  for (;;) {
    const auto sent =
        descriptor >= 0 ? raw_send(fd, &message, MSG_NOSIGNAL) : raw_send(fd, bytes, size, MSG_NOSIGNAL);
    if (sent >= 0 || (errno != EAGAIN && errno != EINTR)) return sent;
    pollfd wait{fd, POLLOUT, 0};
    if (errno == EAGAIN) poll(&wait, 1, -1);
  }
}

ssize_t receive(int fd, void* bytes, size_t size, int flags, int* descriptor) {
  iovec part{bytes, size};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  *descriptor = -1;
  ssize_t got = 0;
  do {
    got = raw_receive(fd, &message, flags | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR && (flags & MSG_DONTWAIT) == 0);
  if (got < 0) return got;
  const auto* head = CMSG_FIRSTHDR(&message);
  if (head != nullptr && head->cmsg_type == SCM_RIGHTS) memcpy(descriptor, CMSG_DATA(head), sizeof(int));
  return got;
}

Opened connect_as(Kind kind, uint32_t index, bool wait, bool close_on_exec) {
  sockaddr_un address{};
  const char* places = getenv(kPlacesVariable);
  if (places == nullptr || !socket_address(address)) return failed(-1, ENOENT);
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | (close_on_exec ? SOCK_CLOEXEC : 0), 0);
  if (fd < 0) return {};
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) return failed(fd, ENODEV);
  char hello[kLongestHello];
  const size_t length = strlen(places);
  if (sizeof(Hello) + length > sizeof(hello)) return failed(fd, E2BIG);
  Hello head{{}, kind, index, wait ? 1U : 0U, static_cast<uint32_t>(getpid())};
  memcpy(head.magic, kHelloMagic, sizeof(kHelloMagic));
  memcpy(hello, &head, sizeof(head));
  memcpy(hello + sizeof(head), places, length);
  if (send_all(fd, hello, sizeof(head) + length, -1) < 0) return failed(fd, ENODEV);
  Reply reply{};
  Opened opened{fd, -1, 0};
  if (receive(fd, &reply, sizeof(reply), 0, &opened.memory) != sizeof(reply)) {
    if (opened.memory >= 0) raw_close(opened.memory);
    return failed(fd, ENODEV);
  }
  if (reply.error != 0) return failed(fd, reply.error);
  opened.size = reply.size;
  return opened;
}

}  // namespace smd::sim::attach
