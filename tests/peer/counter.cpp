// SPDX-License-Identifier: Apache-2.0
// A preload library that counts what a program sends through libibumad, by class, method and attribute, in a
// file that a test reads while the program runs ($SMD_PEER_COUNT). It stands before libumad2sim, so that smd
// and opensm are counted by the same means, outside of both.
#include <dlfcn.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace {

/// One row of the table in the file; key 0 is free. Key: class << 24 | method << 16 | attribute.
struct Row {
  std::atomic<std::uint32_t> key;
  std::atomic<std::uint32_t> count;
};
constexpr std::size_t kRows = 1024;

Row* map_table() {
  const char* name = std::getenv("SMD_PEER_COUNT");
  if (name == nullptr) return nullptr;
  const int fd = ::open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(kRows * sizeof(Row))) != 0) return nullptr;
  void* table = ::mmap(nullptr, kRows * sizeof(Row), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  return table == MAP_FAILED ? nullptr : static_cast<Row*>(table);
}

void count(const std::uint8_t* mad) {
  static Row* const table = map_table();
  if (table == nullptr) return;
  const auto key = (std::uint32_t{mad[1]} << 24) | (std::uint32_t{mad[3]} << 16) |
                   (std::uint32_t{mad[16]} << 8) | std::uint32_t{mad[17]};
  for (std::size_t i = key % kRows, tries = 0; tries < kRows; i = (i + 1) % kRows, ++tries) {
    std::uint32_t expected = 0;
    if (table[i].key.load() == key || table[i].key.compare_exchange_strong(expected, key) ||
        expected == key) {
      ++table[i].count;
      return;
    }
  }
}

}  // namespace

extern "C" int umad_send(int port, int agent, void* umad, int length, int timeout, int retries) {
  using Send = int (*)(int, int, void*, int, int, int);
  static const auto send = reinterpret_cast<Send>(::dlsym(RTLD_NEXT, "umad_send"));
  if (length >= 24) count(static_cast<const std::uint8_t*>(umad_get_mad(umad)));
  return send(port, agent, umad, length, timeout, retries);
}
