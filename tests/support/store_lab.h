// SPDX-License-Identifier: Apache-2.0
#pragma once
// State directories that live as long as a test, and states to put in them.

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "smd/decide/stored.h"
#include "smd/log/log.h"

namespace smd::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    // In memory where that can be had: these tests sync thousands of times.
    const auto root = ::access("/dev/shm", W_OK) == 0 ? std::filesystem::path("/dev/shm")
                                                      : std::filesystem::temp_directory_path();
    std::string name = root / "smd-store-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp " + name);
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }
  /// Names of what lies in it, those with this beginning.
  std::size_t count(const std::string& beginning) const {
    std::size_t n = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      if (entry.path().filename().string().starts_with(beginning)) ++n;
    }
    return n;
  }

 private:
  std::filesystem::path path_;
};

/// Lines of a log that is not in a world. Any thread may log.
struct KeptLines {
  std::shared_ptr<std::mutex> mutex = std::make_shared<std::mutex>();
  std::shared_ptr<std::vector<std::string>> lines = std::make_shared<std::vector<std::string>>();
  log::Log log{{},
               [mutex = mutex, lines = lines](const log::Record&, std::string_view line) {
                 const std::scoped_lock lock(*mutex);
                 lines->emplace_back(line);
               },
               {.steady = [] { return std::chrono::nanoseconds(0); },
                .wall = [] { return std::chrono::system_clock::time_point{}; }}};
  std::size_t count(const std::string& what) const {
    const std::scoped_lock lock(*mutex);
    std::size_t n = 0;
    for (const auto& line : *lines) n += line.find(what) != std::string::npos ? 1U : 0U;
    return n;
  }
};

inline Guid some_guid(std::uint64_t number) { return Guid{0x0002c90000000000 + number}; }

/// Ports 1 to 3, some of them alike; of block 1 nothing is known.
inline sm::Stored::NodeVlTables some_vl_tables(std::mt19937_64& random) {
  sm::Stored::NodeVlTables ports;
  for (std::uint8_t port = 1; port < 4; ++port) {
    sm::HeldBlocks<wire::SlToVl> sl_to_vl{.row = std::vector<wire::SlToVl>(4)};
    sm::HeldBlocks<wire::VlArbitration> arbitration{.row = std::vector<wire::VlArbitration>(3)};
    for (const std::size_t block : {0U, 2U, 3U}) {
      sl_to_vl.row[block].vls[random() % 16] = Vl{static_cast<std::uint8_t>(random() % 2)};
      sl_to_vl.known.set(block), sl_to_vl.asked.set(block);
    }
    for (const std::size_t block : {0U, 2U}) {
      arbitration.row[block].entries[random() % 2] = {Vl{1}, static_cast<std::uint8_t>(random() % 3)};
      arbitration.known.set(block), arbitration.asked.set(block);
    }
    ports.push_back({PortNum{port}, std::make_shared<const sm::HeldBlocks<wire::SlToVl>>(std::move(sl_to_vl)),
                     std::make_shared<const sm::HeldBlocks<wire::VlArbitration>>(std::move(arbitration))});
  }
  return ports;
}

/// A few rows of each kind other than in `before`: some new, some changed, some gone.
inline sm::Stored changed(sm::Stored before, std::mt19937_64& random) {
  const auto pick = [&](std::uint64_t n) { return random() % n; };
  for (std::uint64_t i = 0, n = 1 + pick(8); i < n; ++i) {
    const auto guid = some_guid(1 + pick(40));
    const PortNum port{static_cast<std::uint8_t>(pick(5))};
    const auto lmc = static_cast<std::uint8_t>(pick(8));
    switch (pick(15)) {
      case 0:
        before.lids.erase(guid);
        break;
      case 1:
        before.not_kept[{guid, port}] = {
            .lid = Lid{static_cast<std::uint16_t>(1 + pick(400))},
            .fields = {{.attribute = 0x15, .port = port, .field = "NeighborMTU", .desired = pick(6)},
                       {.attribute = 0x15, .port = port, .field = "SubnetTimeOut", .desired = 18}}};
        break;
      case 2:
        before.not_kept.erase({guid, port});
        break;
      case 6:
        before.port_keys.erase(guid);
        break;
      case 7:
        before.port_keys[guid] = {
            .keys = {PKey{0xffff}, PKey{}, PKey{static_cast<std::uint16_t>(1 + pick(0x7fff))}},
            .at_switch = {PKey{0x8001}},
            .in = pick(2) == 0,
            .out = pick(2) == 0,
            .seen = static_cast<std::int64_t>(pick(1'000'000))};
        break;
      case 8:
        before.vl_tables.erase(guid);
        break;
      case 9:
        before.vl_tables[guid] = some_vl_tables(random);
        break;
      case 10:
        before.m_keys.erase(guid);
        break;
      case 11:
        before.m_keys[guid] = {.key = random(), .before = random(), .node = guid, .port = port};
        break;
      case 12:
        before.wire_sls[{Sl{static_cast<std::uint8_t>(pick(16))}, static_cast<unsigned>(pick(8))}] =
            Sl{static_cast<std::uint8_t>(pick(16))};
        break;
      case 13:
        before.engine = {};
        before.left_engine = {};
        break;
      case 14:
        before.repaired_tables = pick(2) == 0 ? 0 : random();
        before.engine = {.name = pick(2) == 0 ? "updn" : "nue", .roots = {}, .rules = "auto fixed"};
        if (pick(2) == 0) before.engine.roots = {guid, Guid{guid.value() + 1}};
        before.left_engine = {};
        if (before.engine.name == "nue") before.left_engine = {.name = "updn", .roots = before.engine.roots};
        break;
      case 3:
        before.retrained.insert({guid,
                                 port,
                                 {.width = 3,
                                  .speed = static_cast<std::uint8_t>(pick(8)),
                                  .speed_ext = 1,
                                  .speed_ext2 = static_cast<std::uint8_t>(pick(8))}});
        break;
      default:
        before.lids[guid] = {Lid{static_cast<std::uint16_t>(128 * (1 + pick(300)))}, lmc};
    }
  }
  return before;
}

inline sm::StoredPtr changed(const sm::StoredPtr& before, std::mt19937_64& random) {
  return std::make_shared<const sm::Stored>(changed(*before, random));
}

inline sm::StoredPtr some_state(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  return changed(changed(std::make_shared<const sm::Stored>(), random), random);
}

inline void write_file(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace smd::test
