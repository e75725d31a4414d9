// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/attach/device.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/ib_user_mad.h>
#include <rdma/rdma_user_ioctl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mad/sim/attach/connection.h"
#include "mad/sim/attach/marks.h"
#include "mad/sim/attach/real.h"

namespace smd::sim::attach {
namespace {

constexpr uint32_t kAgents = 32;

size_t header_of(const Mark* mark) { return mark != nullptr && mark->old_header != 0 ? kOldHeader : kHeader; }

/// One question over a device's descriptor. The answer comes by a socket of its own, so that MADs that wait
/// to be read are not in its way.
int ask(int fd, Call& call) {
  memcpy(call.magic, kCallMagic, sizeof(kCallMagic));
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return -1;
  const bool sent = send_all(fd, &call, sizeof(call), pair[1]) >= 0;
  raw_close(pair[1]);
  struct {
    Reply reply;
    unsigned char argument[sizeof(call.argument)];
  } answer{};
  int nothing = -1;
  const auto got = sent ? receive(pair[0], &answer, sizeof(answer), 0, &nothing) : -1;
  raw_close(pair[0]);
  if (got < static_cast<ssize_t>(sizeof(Reply))) return fail(ENODEV);
  memcpy(call.argument, answer.argument, sizeof(call.argument));
  return answer.reply.error != 0 ? fail(answer.reply.error) : 0;
}

/// As the kernel, which refuses a write of an agent that it does not know.
bool agent_known(int fd, uint32_t agent) {
  auto* known = mark_of(fd);
  if (agent >= kAgents) return false;
  if (known != nullptr && ((known->agents >> agent) & 1U) != 0) return true;
  Call call{};
  call.operation = Operation::agent;
  call.request = agent;
  if (ask(fd, call) != 0) return false;
  if (known != nullptr) __atomic_fetch_or(&known->agents, 1U << agent, __ATOMIC_RELAXED);
  return true;
}

size_t length_of(const unsigned char* header) {
  uint32_t length = 0;
  memcpy(&length, header + offsetof(ib_user_mad_hdr, length), sizeof(length));
  return length;
}

/// A MAD of several segments that is next in the queue, for a buffer of `size`.
ssize_t read_large(int fd, void* buffer, size_t size, size_t header) {
  unsigned char first[kHeader + kInlineMad];
  msghdr message{};
  iovec part{first, sizeof(first)};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (raw_receive(fd, &message, MSG_PEEK | MSG_DONTWAIT) < 0) return -1;
  const size_t total = length_of(first);
  if (size < header + kInlineMad) return fail(EINVAL);
  if (size < total) {
    memcpy(buffer, first, header + kInlineMad);
    return fail(ENOSPC);
  }
  int memory = -1;
  if (receive(fd, first, sizeof(first), MSG_DONTWAIT, &memory) < 0) return -1;
  if (memory < 0) return fail(EIO);
  const auto got = pread(memory, buffer, total, 0);
  raw_close(memory);
  return got == static_cast<ssize_t>(total) ? got : fail(EIO);
}

/// The next MAD of a batch. The message goes with its last one.
ssize_t read_part(int fd, void* buffer, size_t size, Next& next) {
  Part part{};
  memcpy(&part, next.bytes + next.at, sizeof(part));
  const size_t left = next.size - next.at - sizeof(part);
  if (part.size > left) return fail(EIO);
  if (part.size > size) return fail(EINVAL);
  memcpy(buffer, next.bytes + next.at + sizeof(part), part.size);
  next.at += sizeof(part) + part.size;
  if (next.at + sizeof(part) > next.size) {
    next.at = next.size = 0;
    msghdr nothing{};
    raw_receive(fd, &nothing, MSG_DONTWAIT);
  }
  return static_cast<ssize_t>(part.size);
}

/// With the lock held.
ssize_t read_now(int fd, void* buffer, size_t size, size_t header, Next& next) {
  if (next.size != 0) return read_part(fd, buffer, size, next);
  msghdr message{};
  iovec part{next.bytes, sizeof(next.bytes)};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  const auto got = raw_receive(fd, &message, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);
  if (got < 0) return -1;
  if (got == 0) return fail(EIO);  // the server has gone
  const auto length = static_cast<size_t>(got);
  if ((message.msg_flags & MSG_CTRUNC) != 0) return read_large(fd, buffer, size, header);
  if (length > sizeof(kBatchMagic) + sizeof(Part) && length <= sizeof(next.bytes) &&
      memcmp(next.bytes, kBatchMagic, sizeof(kBatchMagic)) == 0) {
    next.at = sizeof(kBatchMagic);
    next.size = length;
    return read_part(fd, buffer, size, next);
  }
  if (length > size) return fail(EINVAL);
  part = {buffer, size};
  message.msg_flags = 0;
  return raw_receive(fd, &message, MSG_DONTWAIT);
}

ssize_t write_large(int fd, const void* buffer, size_t size) {
  const int memory = memfd_create("smd-sim-mad", MFD_CLOEXEC);
  if (memory < 0) return fail(ENOMEM);
  Call call{};
  memcpy(call.magic, kCallMagic, sizeof(kCallMagic));
  call.operation = Operation::write;
  call.size = static_cast<uint32_t>(size);
  const bool sent = pwrite(memory, buffer, size, 0) == static_cast<ssize_t>(size) &&
                    send_all(fd, &call, sizeof(call), memory) >= 0;
  raw_close(memory);
  return sent ? static_cast<ssize_t>(size) : fail(ENOMEM);
}

void after_control(int fd, unsigned long request, const void* argument) {
  auto* known = mark_of(fd);
  if (known == nullptr) return;
  uint32_t agent = 0;
  memcpy(&agent, argument, argument == nullptr ? 0 : sizeof(agent));  // the first member of each argument
  switch (request) {
    case IB_USER_MAD_REGISTER_AGENT:
    case IB_USER_MAD_REGISTER_AGENT2:
      if (agent < kAgents) __atomic_fetch_or(&known->agents, 1U << agent, __ATOMIC_RELAXED);
      break;
    case IB_USER_MAD_UNREGISTER_AGENT:
      if (agent < kAgents) __atomic_fetch_and(&known->agents, ~(1U << agent), __ATOMIC_RELAXED);
      break;
    default:
      break;
  }
}

}  // namespace

int open_device(const Path& path, int flags) {
  const char* name = strrchr(path.text, '/') + 1;
  const bool umad = strncmp(name, "umad", 4) == 0;
  if (!umad && strncmp(name, "issm", 4) != 0) return fail(ENOENT);
  char* end = nullptr;
  const auto index = strtoul(name + 4, &end, 10);
  if (end == name + 4 || *end != 0) return fail(ENOENT);
  const bool wait = (flags & O_NONBLOCK) == 0;
  const auto opened = connect_as(umad ? Kind::umad : Kind::issm, static_cast<uint32_t>(index), wait,
                                 (flags & O_CLOEXEC) != 0);
  if (opened.fd < 0) return -1;
  if (!wait) fcntl(opened.fd, F_SETFL, O_NONBLOCK);
  mark_device(opened.fd);
  // A program that lives in the old ABI must say so by what it does not ask for: see control_device.
  if (auto* known = mark_of(opened.fd)) known->old_header = 1;
  return opened.fd;
}

ssize_t read_device(int fd, void* buffer, size_t size) {
  auto* known = mark_of(fd);
  auto* next = known != nullptr ? next_of(*known) : nullptr;
  if (next == nullptr) return fail(ENOMEM);
  outdate();
  for (;;) {
    ssize_t got = -1;
    {
      const Lock hold(next->lock);
      got = read_now(fd, buffer, size, header_of(known), *next);
    }
    if (got >= 0 || errno != EAGAIN) return got;
    if ((fcntl(fd, F_GETFL) & O_NONBLOCK) != 0) return fail(EAGAIN);
    pollfd wait{fd, POLLIN, 0};
    if (poll(&wait, 1, -1) < 0) return -1;
  }
}

ssize_t write_device(int fd, const void* buffer, size_t size) {
  const auto* known = mark_of(fd);
  const size_t header = header_of(known);
  outdate();
  if (size < header + kShortestMad) return fail(EINVAL);
  uint32_t agent = 0;
  memcpy(&agent, buffer, sizeof(agent));
  if (!agent_known(fd, agent)) return fail(errno == ENODEV ? EIO : EINVAL);
  if (size > kHeader + kInlineMad) return write_large(fd, buffer, size);
  const auto sent = send_all(fd, buffer, size, -1);
  return sent < 0 ? fail(EIO) : sent;
}

bool control_device(int fd, unsigned long request, void* argument, int* result) {
  if (_IOC_TYPE(request) != RDMA_IOCTL_MAGIC) return false;
  if (!is_device(fd)) {
    if (!is_connection(fd)) return false;
    mark_device(fd);
  }
  Call call{};
  call.operation = Operation::control;
  call.request = static_cast<uint32_t>(request);
  // The old unregister request is counted as a pointer to 32 bits, the new header needs none at all.
  const size_t size = _IOC_SIZE(request);
  if (size > sizeof(call.argument) || (size != 0 && argument == nullptr)) {
    *result = fail(EINVAL);
    return true;
  }
  call.size = static_cast<uint32_t>(size);
  if (size != 0) memcpy(call.argument, argument, size);
  outdate();
  *result = ask(fd, call);
  // A refused REGISTER_AGENT2 says which flags there are.
  if (size != 0 && (_IOC_DIR(request) & _IOC_READ) != 0) memcpy(argument, call.argument, size);
  if (*result == 0) after_control(fd, request, argument);
  if (*result == 0 && request == IB_USER_MAD_ENABLE_PKEY) {
    if (auto* known = mark_of(fd)) known->old_header = 0;
  }
  return true;
}

}  // namespace smd::sim::attach
