// SPDX-License-Identifier: Apache-2.0
// failover_client DLID [keep]: a PathRecord from this port to DLID every 10 ms, each with a time-out of 100
// ms and no retry, until it is ended. The SM's LID is read anew for each; with `keep` only after three
// requests in a row that have timed out or were refused. Prints a line for each answer of status 0: when the
// request was sent and when the answer came, in nanoseconds of the monotonic clock.
#include <infiniband/umad.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tests/peer/path_request.h"

namespace {

namespace peer = smd::peer;

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kTimeout = 100;
constexpr auto kPace = milliseconds(10);
constexpr unsigned kPatience = 3;

long long nanoseconds(Clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

struct Client {
  int port = -1, agent = -1;
  std::string lid_file;
  unsigned lid = 0, sm_lid = 0, dlid = 1, failures = 0;
  bool keeps = false;
  std::uint32_t tid = 0;
  std::vector<std::uint8_t> out, in;
  std::unordered_map<std::uint32_t, Clock::time_point> asked;

  bool open() {
    if (umad_init() < 0 || (port = umad_open_port(nullptr, 0)) < 0) return false;
    umad_port_t info{};
    if ((agent = umad_register(port, 3, 2, 0, nullptr)) < 0 || umad_get_port(nullptr, 0, &info) < 0)
      return false;
    lid = info.base_lid;
    lid_file = std::string("/sys/class/infiniband/") + info.ca_name + "/ports/" +
               std::to_string(info.portnum) + "/sm_lid";
    umad_release_port(&info);
    out.resize(umad_size() + peer::kMad);
    in.resize(umad_size() + peer::kMad);
    read_sm_lid();
    return true;
  }

  void read_sm_lid() {
    std::ifstream file(lid_file);
    std::string text;
    if (file >> text) sm_lid = static_cast<unsigned>(std::strtoul(text.c_str(), nullptr, 0));
  }

  void ask() {
    if (!keeps || failures >= kPatience) {
      read_sm_lid();
      failures = 0;
    }
    std::ranges::fill(out, std::uint8_t{0});
    auto* mad = static_cast<std::uint8_t*>(umad_get_mad(out.data()));
    peer::write_path_request(mad, ++tid, lid, dlid);
    umad_set_addr(out.data(), static_cast<int>(sm_lid), 1, 0, peer::kSaQkey);
    const auto now = Clock::now();
    if (umad_send(port, agent, out.data(), peer::kMad, kTimeout, 0) >= 0) asked.emplace(tid, now);
  }

  void hear() {
    int length = peer::kMad;
    if (umad_recv(port, in.data(), &length, 0) < 0) return;
    const auto* mad = static_cast<const std::uint8_t*>(umad_get_mad(in.data()));
    const auto number = peer::tid_of(mad);
    const auto found = asked.find(number);
    if (found == asked.end()) return;
    const auto sent = found->second;
    asked.erase(found);
    // A kernel without an SA refuses at once (status 0x000c).
    if (umad_status(in.data()) != 0 || mad[4] != 0 || mad[5] != 0) {
      ++failures;
      return;
    }
    failures = 0;
    std::printf("%lld %lld\n", nanoseconds(sent), nanoseconds(Clock::now()));
    std::fflush(stdout);
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "failover_client DLID [keep]\n"), 2;
  Client client;
  client.dlid = static_cast<unsigned>(std::max(1, std::atoi(argv[1])));
  client.keeps = argc > 2 && std::string_view(argv[2]) == "keep";
  if (!client.open()) {
    std::perror("no port");
    return 1;
  }
  auto next = Clock::now();
  for (;;) {
    if (Clock::now() >= next) {
      client.ask();
      next = std::max(next + kPace, Clock::now());
    }
    pollfd waits{.fd = umad_get_fd(client.port), .events = POLLIN, .revents = 0};
    const auto left = std::chrono::ceil<milliseconds>(next - Clock::now()).count();
    if (poll(&waits, 1, static_cast<int>(std::max<long long>(0, left))) > 0) client.hear();
  }
}
