// SPDX-License-Identifier: Apache-2.0
// flood COUNT WINDOW: NodeInfo of the neighbour, COUNT times, WINDOW of them under way; prints SMPs a second.
#include <infiniband/umad.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr int kMad = 256, kDirected = 0x81, kTimeout = 5000;

void fill(unsigned char* mad, unsigned tid) {
  std::memset(mad, 0, kMad);
  mad[0] = 1;
  mad[1] = kDirected;
  mad[2] = 1;
  mad[3] = 1;  // Get
  mad[7] = 1;  // one hop
  for (int i = 0; i < 4; ++i) mad[12 + i] = static_cast<unsigned char>(tid >> (24 - 8 * i));
  mad[17] = 0x11;
  mad[32] = mad[33] = mad[34] = mad[35] = 0xFF;
  mad[129] = 1;  // by port 1
}

int fail(const char* what) {
  std::perror(what);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned count = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 20'000;
  const unsigned window = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 64;
  if (umad_init() < 0) return fail("umad_init");
  const int fd = umad_open_port(nullptr, 0);
  if (fd < 0) return fail("umad_open_port");
  const int agent = umad_register(fd, kDirected, 1, 0, nullptr);
  if (agent < 0) return fail("umad_register");
  std::vector<unsigned char> buffer(umad_size() + kMad);
  const auto began = std::chrono::steady_clock::now();
  for (unsigned sent = 0, got = 0; got < count;) {
    while (sent < count && sent - got < window) {
      std::memset(buffer.data(), 0, buffer.size());
      umad_set_addr(buffer.data(), 0xFFFF, 0, 0, 0);
      fill(static_cast<unsigned char*>(umad_get_mad(buffer.data())), ++sent);
      if (umad_send(fd, agent, buffer.data(), kMad, kTimeout, 0) < 0) return fail("umad_send");
    }
    int length = kMad;
    if (umad_recv(fd, buffer.data(), &length, kTimeout) < 0) return fail("umad_recv");
    if (umad_status(buffer.data()) != 0) return fail("a time-out");
    ++got;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::printf("%.0f SMPs/s\n", count / took.count());
  return 0;
}
