// SPDX-License-Identifier: Apache-2.0
// barrage COUNT SEED: so many MADs of every class to the SM's LID, random ones and requests with bytes
// changed, none of which waits for an answer. After each 256 of them the SM is asked for its SMInfo. Prints
// how long that took: at most while it rained, and at most of 20 times after it. Exit 2: it was not answered.
#include <infiniband/umad.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

namespace {

constexpr std::size_t kMad = 256, kSa = 36, kData = 56;
constexpr std::uint8_t kSmi = 0x01, kDirected = 0x81, kSaClass = 0x03, kGet = 0x01, kSet = 0x02,
                       kDelete = 0x15;
constexpr std::uint16_t kSmInfo = 0x20;
constexpr int kPatience = 5000;

std::mt19937_64 random_bits;

std::uint64_t below(std::uint64_t bound) { return random_bits() % bound; }

void put(std::uint8_t* at, std::uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) at[i] = static_cast<std::uint8_t>(value >> (8 * (bytes - 1 - i)));
}

template <class T, std::size_t N>
T any_of(const std::array<T, N>& from) {
  return from[below(N)];
}

struct Port {
  int fd = -1, smi = -1, gsi = -1;
  std::uint16_t sm_lid = 0;
  std::uint64_t prefix = 0, guid = 0;
  std::uint64_t tid = 0;

  bool open() {
    umad_port_t info{};
    if (umad_init() < 0 || umad_get_port(nullptr, 0, &info) < 0) return false;
    sm_lid = static_cast<std::uint16_t>(info.sm_lid);
    prefix = be64toh(info.gid_prefix);
    guid = be64toh(info.port_guid);
    umad_release_port(&info);
    fd = umad_open_port(nullptr, 0);
    if (fd < 0) return false;
    smi = umad_register(fd, kSmi, 1, 0, nullptr);
    gsi = umad_register(fd, kSaClass, 2, 0, nullptr);
    return smi >= 0 && gsi >= 0;
  }
};

void noise(std::uint8_t* mad) {
  for (std::size_t i = 0; i < kMad; i += 8) put(mad + i, random_bits(), 8);
  if (below(8) != 0) mad[0] = 1;
  constexpr std::array<std::uint8_t, 14> kClasses{0x01, 0x81, 0x03, 0x03, 0x04, 0x05, 0x06,
                                                  0x07, 0x08, 0x09, 0x0A, 0x10, 0x21, 0x32};
  if (below(8) != 0) mad[1] = any_of(kClasses);
}

void sa_request(const Port& port, std::uint8_t* mad) {
  constexpr std::array<std::uint8_t, 8> kMethods{0x01, 0x02, 0x12, 0x15, 0x14, 0x13, 0x01, 0x06};
  constexpr std::array<std::uint16_t, 22> kAttributes{0x01, 0x02, 0x03, 0x11, 0x12, 0x13, 0x14, 0x15,
                                                      0x16, 0x17, 0x18, 0x20, 0x30, 0x31, 0x33, 0x35,
                                                      0x36, 0x38, 0x39, 0x3A, 0xF3, 0x19};
  const std::array<std::uint8_t, 4> header{1, kSaClass, 2, any_of(kMethods)};
  std::ranges::copy(header, mad);
  put(mad + 16, any_of(kAttributes), 2);
  put(mad + kSa + 12, random_bits() & random_bits() & random_bits(), 8);
  if (below(2) == 0) {
    for (auto i = kData; i < kMad; ++i) mad[i] = static_cast<std::uint8_t>(random_bits());
  }
  if (below(2) == 0) {  // a join as IPoIB makes it, or nearly so
    mad[3] = below(4) == 0 ? kDelete : kSet;
    put(mad + 16, 0x38, 2);
    put(mad + kSa + 12, below(2) == 0 ? 0x130C7 : 0x10003 | (random_bits() & 0x3FFFF), 8);
    put(mad + kData, 0xFF12401BFFFF0000, 8);
    put(mad + kData + 8, below(4) == 0 ? 0xFFFFFFFF : below(5000), 8);
    put(mad + kData + 16, port.prefix, 8);
    put(mad + kData + 24, port.guid, 8);
    put(mad + kData + 40, 0xFFFF, 2);
    mad[kData + 48] = 0x21;
  }
}

void sm_request(std::uint8_t* mad) {
  constexpr std::array<std::uint16_t, 8> kAttributes{0x10, 0x11, 0x12, 0x14, 0x15, 0x16, 0x19, 0x20};
  const std::array<std::uint8_t, 4> header{1, kSmi, 1, kGet};
  std::ranges::copy(header, mad);
  put(mad + 16, any_of(kAttributes), 2);
  if (below(4) == 0) {  // what one SM says to another
    put(mad + 16, kSmInfo, 2);
    mad[3] = kSet;
    put(mad + 20, below(7), 4);
  }
}

void fill(const Port& port, std::uint8_t* mad) {
  const auto kind = below(8);
  if (kind < 2) {
    noise(mad);
  } else {
    kind < 7 ? sa_request(port, mad) : sm_request(mad);
    for (auto changes = below(9); changes > 0; --changes)
      mad[below(kMad)] = static_cast<std::uint8_t>(random_bits());
  }
  // What the node itself would obey is no matter of the SM's: anybody may take its port down where there is
  // no M_Key.
  const bool of_node = mad[1] == kSmi || mad[1] == kDirected;
  if (of_node && mad[3] == kSet && (mad[16] != 0 || mad[17] != kSmInfo)) mad[3] = kGet;
}

bool send(Port& port, std::vector<std::uint8_t>& buffer, int timeout) {
  const auto* mad = static_cast<const std::uint8_t*>(umad_get_mad(buffer.data()));
  const bool smi = mad[1] == kSmi || mad[1] == kDirected;
  umad_set_addr(buffer.data(), port.sm_lid, smi ? 0 : 1, 0, smi ? 0 : static_cast<int>(0x80010000));
  return umad_send(port.fd, smi ? port.smi : port.gsi, buffer.data(), kMad, timeout, 0) == 0;
}

/// Milliseconds until Get(SMInfo) was answered; negative where it was not.
double ask(Port& port, std::vector<std::uint8_t>& buffer) {
  std::ranges::fill(buffer, std::uint8_t{0});
  auto* mad = static_cast<std::uint8_t*>(umad_get_mad(buffer.data()));
  const std::array<std::uint8_t, 4> header{1, kSmi, 1, kGet};
  std::ranges::copy(header, mad);
  put(mad + 12, ++port.tid, 4);
  put(mad + 16, kSmInfo, 2);
  const auto began = std::chrono::steady_clock::now();
  if (!send(port, buffer, kPatience)) return -1;
  while (true) {
    int length = static_cast<int>(kMad);
    if (umad_recv(port.fd, buffer.data(), &length, 2 * kPatience) < 0) return -1;
    std::array<std::uint8_t, 4> tid{};
    put(tid.data(), port.tid, 4);
    if (mad[1] != kSmi || !std::equal(tid.begin(), tid.end(), mad + 12)) continue;  // of the rain
    if (umad_status(buffer.data()) != 0) return -1;
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
    return took.count();
  }
}

int fail(const char* what) {
  std::perror(what);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000;
  random_bits.seed(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  Port port;
  if (!port.open()) return fail("no port");
  std::vector<std::uint8_t> buffer(umad_size() + kMad);
  double longest = 0, after = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::ranges::fill(buffer, std::uint8_t{0});
    fill(port, static_cast<std::uint8_t*>(umad_get_mad(buffer.data())));
    if (!send(port, buffer, 0)) return fail("umad_send");
    if (i % 256 != 255) continue;
    const auto took = ask(port, buffer);
    if (took < 0) return std::fprintf(stderr, "no SMInfo after %llu MADs\n", 1ULL * i), 2;
    longest = std::max(longest, took);
  }
  for (int i = 0; i < 20; ++i) {
    const auto took = ask(port, buffer);
    if (took < 0) return std::fprintf(stderr, "no SMInfo after all\n"), 2;
    after = std::max(after, took);
  }
  std::printf("%llu MADs, SMInfo within %.1f ms, afterwards within %.1f ms\n", 1ULL * count, longest, after);
  return 0;
}
