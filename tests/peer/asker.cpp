// SPDX-License-Identifier: Apache-2.0
// Asks subnet administration what stands on its standard input, one question a line:
//   METHOD ATTRIBUTE COMPONENT_MASK SM_KEY DATA [CLASS_VERSION]
// all in hexadecimal; the version is 2 where none is given. `asker N` (1) has so many questions under way.
// One line comes back for each as its answer comes: NUMBER STATUS RECORD_BYTES DATA, or NUMBER none where
// nobody answers; the first is number 0.
#include <infiniband/umad.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr std::uint64_t kGetMulti = 0x14;
constexpr std::size_t kMad = 256, kRmpp = 24, kSa = 36, kData = 56, kLongest = std::size_t{32} << 20U;
constexpr int kPatience = 2000, kRetries = 3;

void put(std::uint8_t* at, std::uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) at[i] = static_cast<std::uint8_t>(value >> (8 * (bytes - 1 - i)));
}

std::uint64_t get(const std::uint8_t* at, unsigned bytes) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < bytes; ++i) value = value << 8U | at[i];
  return value;
}

struct Client {
  int port = -1, agent = -1;
  std::uint16_t sm_lid = 0;
  std::uint32_t tid = 0;
  std::size_t open_questions = 0;
  std::vector<std::uint8_t> out, in;

  bool open() {
    if (umad_init() < 0) return false;
    port = umad_open_port(nullptr, 0);
    if (port < 0) return false;
    agent = umad_register(port, 3, 2, 1, nullptr);
    umad_port_t info{};
    if (agent < 0 || umad_get_port(nullptr, 0, &info) < 0) return false;
    sm_lid = static_cast<std::uint16_t>(info.sm_lid);
    umad_release_port(&info);
    out.resize(umad_size() + kMad);
    in.resize(umad_size() + kLongest);
    return true;
  }

  void ask(std::istringstream line) {
    std::uint64_t method = 0, attribute = 0, mask = 0, key = 0, version = 2;
    std::string data;
    line >> std::hex >> method >> attribute >> mask >> key >> data;
    if (std::uint64_t other = 0; line >> other) version = other;
    std::ranges::fill(out, std::uint8_t{0});
    auto* mad = static_cast<std::uint8_t*>(umad_get_mad(out.data()));
    const std::uint8_t header[] = {1, 3, static_cast<std::uint8_t>(version),
                                   static_cast<std::uint8_t>(method)};
    std::ranges::copy(header, mad);
    if (method == kGetMulti)
      std::ranges::fill_n(mad + kRmpp, 3, std::uint8_t{1});  // a question by RMPP: data, active
    put(mad + 8, tid++, 8);
    put(mad + 16, attribute, 2);
    put(mad + kSa, key, 8);
    put(mad + kSa + 12, mask, 8);
    for (std::size_t i = 0; i + 1 < data.size() && kData + i / 2 < kMad; i += 2) {
      mad[kData + i / 2] = static_cast<std::uint8_t>(std::stoul(data.substr(i, 2), nullptr, 16));
    }
    umad_set_addr(out.data(), sm_lid, 1, 0, static_cast<int>(0x80010000));
    if (umad_send(port, agent, out.data(), kMad, kPatience, kRetries) < 0) {
      std::cout << tid - 1 << " none\n";
    } else {
      ++open_questions;
    }
  }

  /// False: nothing comes any more.
  bool answer() {
    int length = static_cast<int>(kLongest);
    if (umad_recv(port, in.data(), &length, kPatience * (kRetries + 2)) < 0) return false;
    const auto* mad = static_cast<const std::uint8_t*>(umad_get_mad(in.data()));
    const auto number = static_cast<std::uint32_t>(get(mad + 8, 8));
    if (umad_status(in.data()) != 0) {
      std::cout << number << " none\n" << std::flush;
      --open_questions;
      return true;
    }
    if ((mad[3] & 0x80U) == 0) return true;  // a report
    --open_questions;
    std::string text;
    for (auto i = kData; i < static_cast<std::size_t>(length); ++i) {
      constexpr auto kDigits = "0123456789abcdef";
      text += {kDigits[mad[i] >> 4U], kDigits[mad[i] & 0xfU]};
    }
    std::cout << number << std::hex << ' ' << get(mad + 4, 2) << ' ' << 8 * get(mad + kSa + 8, 2) << ' '
              << std::dec << text << '\n'
              << std::flush;
    return true;
  }
};

}  // namespace

int main(int argc, char** argv) {
  Client client;
  if (!client.open()) {
    std::cerr << "asker: no port\n";
    return 1;
  }
  const auto most = argc > 1 ? std::stoul(argv[1]) : 1UL;
  bool more = true;
  while (more || client.open_questions > 0) {
    std::string text;
    if (more && client.open_questions < most) {
      more = static_cast<bool>(std::getline(std::cin, text));
      if (more) client.ask(std::istringstream(text));
    } else if (!client.answer()) {
      return 2;
    }
  }
  return 0;
}
