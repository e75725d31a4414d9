// SPDX-License-Identifier: Apache-2.0
// A preload library that counts what a program sends through libibumad, by class, method and attribute, in a
// file that a test reads while the program runs ($SMD_PEER_COUNT), and notes when the first trap came and
// when the last Set went. It stands before libumad2sim, so that smd and opensm are counted by the same means,
// outside of both.
#include <dlfcn.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

/// One row of the table in the file; key 0 is free. Key: class << 24 | method << 16 | attribute.
struct Row {
  std::atomic<std::uint32_t> key;
  std::atomic<std::uint32_t> count;
};
constexpr std::size_t kRows = 1024;
constexpr std::uint8_t kSet = 0x02, kTrap = 0x05, kLft = 0x19;

/// Nanoseconds of CLOCK_MONOTONIC, 0: not yet. Whoever reads the file may set them back to 0.
struct Times {
  std::atomic<std::uint64_t> first_trap, last_set, last_table_set;
};
struct Table {
  Row rows[kRows];  // NOLINT(*-avoid-c-arrays): the layout of a file
  Times times;
};

Table* map_table() {
  const char* name = std::getenv("SMD_PEER_COUNT");
  if (name == nullptr) return nullptr;
  const int fd = ::open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(sizeof(Table))) != 0) return nullptr;
  void* table = ::mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  return table == MAP_FAILED ? nullptr : static_cast<Table*>(table);
}

Table* table_of_process() {
  static Table* const table = map_table();
  return table;
}

std::uint64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

bool is_smp(const std::uint8_t* mad) { return mad[1] == 0x01 || mad[1] == 0x81; }

void count(const std::uint8_t* mad) {
  auto* const whole = table_of_process();
  if (whole == nullptr) return;
  auto* const table = whole->rows;
  if (is_smp(mad) && mad[3] == kSet) {
    whole->times.last_set = now();
    if (mad[16] == 0 && mad[17] == kLft) whole->times.last_table_set = now();
  }
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

extern "C" int umad_recv(int port, void* umad, int* length, int timeout) {
  using Recv = int (*)(int, void*, int*, int);
  static const auto recv = reinterpret_cast<Recv>(::dlsym(RTLD_NEXT, "umad_recv"));
  const int agent = recv(port, umad, length, timeout);
  if (agent < 0 || *length < 24) return agent;
  const auto* const mad = static_cast<const std::uint8_t*>(umad_get_mad(umad));
  auto* const table = table_of_process();
  std::uint64_t none = 0;
  if (table != nullptr && is_smp(mad) && mad[3] == kTrap)
    table->times.first_trap.compare_exchange_strong(none, now());
  return agent;
}
