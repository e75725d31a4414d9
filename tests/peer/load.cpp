// SPDX-License-Identifier: Apache-2.0
// load SECONDS WINDOW LAST_LID: PathRecords between random LIDs from 1 to LAST_LID, WINDOW of them under way.
// Prints one line: answered, seconds, per_second, longest wait and that of 99 in 100 in ms, processor time of
// this client by query in us, what came with another status than 0, and of that what was BUSY or not answered
// in time at all.
#include <infiniband/umad.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <unordered_map>
#include <vector>

#include "tests/peer/path_request.h"

namespace {

namespace peer = smd::peer;

using Clock = std::chrono::steady_clock;

constexpr int kPatience = 5000;

int fail(const char* what) {
  std::perror(what);
  return 1;
}

double processor_us() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto us = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec);
  };
  return us(usage.ru_utime) + us(usage.ru_stime);
}

struct Load {
  int port = -1, agent = -1;
  std::uint16_t sm_lid = 0;
  unsigned last_lid = 1;
  std::uint32_t tid = 0;
  std::mt19937 random{1};
  std::vector<std::uint8_t> out, in;
  std::unordered_map<std::uint32_t, Clock::time_point> asked;
  std::uint64_t answered = 0, others = 0, busy = 0, lost = 0;
  std::vector<double> waits;  ///< ms

  bool open() {
    if (umad_init() < 0 || (port = umad_open_port(nullptr, 0)) < 0) return false;
    umad_port_t info{};
    if ((agent = umad_register(port, 3, 2, 0, nullptr)) < 0 || umad_get_port(nullptr, 0, &info) < 0)
      return false;
    sm_lid = static_cast<std::uint16_t>(info.sm_lid);
    umad_release_port(&info);
    out.resize(umad_size() + peer::kMad);
    in.resize(umad_size() + peer::kMad);
    return true;
  }

  bool ask() {
    std::ranges::fill(out, std::uint8_t{0});
    auto* mad = static_cast<std::uint8_t*>(umad_get_mad(out.data()));
    const auto dlid = 1 + random() % last_lid, slid = 1 + random() % last_lid;
    peer::write_path_request(mad, ++tid, static_cast<unsigned>(slid), static_cast<unsigned>(dlid));
    umad_set_addr(out.data(), sm_lid, 1, 0, peer::kSaQkey);
    asked.emplace(tid, Clock::now());
    return umad_send(port, agent, out.data(), peer::kMad, kPatience, 0) >= 0;
  }

  bool hear() {
    int length = peer::kMad;
    if (umad_recv(port, in.data(), &length, kPatience) < 0) return false;
    const auto* mad = static_cast<const std::uint8_t*>(umad_get_mad(in.data()));
    const auto number = peer::tid_of(mad);
    const auto found = asked.find(number);
    if (found == asked.end()) return true;
    waits.push_back(std::chrono::duration<double, std::milli>(Clock::now() - found->second).count());
    asked.erase(found);
    ++answered;
    const bool late = umad_status(in.data()) != 0;
    if (late) ++lost;
    if (!late && mad[5] == 1) ++busy;
    if (late || mad[4] != 0 || mad[5] != 0) ++others;
    return true;
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return std::fprintf(stderr, "load SECONDS WINDOW LAST_LID\n"), 2;
  const std::chrono::duration<double> seconds(std::atof(argv[1]));
  const auto window = static_cast<std::size_t>(std::atoi(argv[2]));
  Load load;
  load.last_lid = static_cast<unsigned>(std::max(1, std::atoi(argv[3])));
  if (!load.open()) return fail("no port");
  const auto began = Clock::now();
  const auto before = processor_us();
  while (Clock::now() - began < seconds) {
    while (load.asked.size() < window) {
      if (!load.ask()) return fail("umad_send");
    }
    if (!load.hear()) return fail("umad_recv");
  }
  while (!load.asked.empty() && load.hear()) {
  }
  std::ranges::sort(load.waits);
  const double passed = std::chrono::duration<double>(Clock::now() - began).count();
  std::printf(
      "answered=%llu seconds=%.2f per_second=%.0f longest_ms=%.2f p99_ms=%.2f client_us=%.2f others=%llu "
      "busy=%llu "
      "lost=%llu\n",
      static_cast<unsigned long long>(load.answered), passed, static_cast<double>(load.answered) / passed,
      load.waits.empty() ? 0 : load.waits.back(),
      load.waits.empty() ? 0 : load.waits[load.waits.size() * 99 / 100],
      (processor_us() - before) / static_cast<double>(std::max<std::uint64_t>(1, load.answered)),
      static_cast<unsigned long long>(load.others), static_cast<unsigned long long>(load.busy),
      static_cast<unsigned long long>(load.lost));
  return 0;
}
