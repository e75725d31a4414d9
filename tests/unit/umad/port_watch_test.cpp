// SPDX-License-Identifier: Apache-2.0
// A folder in sysfs' place; a FIFO in it is a file whose read does not end, as with firmware that hangs.
#include "mad/umad/port_watch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "mad/umad/sysfs_port.h"

namespace smd::umad {
namespace {

using namespace std::chrono_literals;

struct FakeSysfs : testing::Test {
  std::filesystem::path root, port;

  FakeSysfs() {
    std::string name = (std::filesystem::temp_directory_path() / "smd-sysfs-XXXXXX").string();
    root = ::mkdtemp(name.data());
    port = root / "mlx5_0/ports/1";
    std::filesystem::create_directories(port / "gids");
    write("gids/0", "fe80:0000:0000:0000:b8ce:f603:00aa:0102\n");
    write("state", "4: ACTIVE\n");
    write("phys_state", "5: LinkUp\n");
  }
  ~FakeSysfs() override { std::filesystem::remove_all(root); }

  void write(const char* name, std::string_view text) const { std::ofstream(port / name) << text; }
  void hang(const char* name) const {
    std::filesystem::remove(port / name);
    ASSERT_EQ(::mkfifo((port / name).c_str(), 0600), 0);
  }
  PortWatch::Read read() const {
    return [root = root.string()] { return read_local_port(root, "mlx5_0", PortNum{1}); };
  }
  static bool within(std::chrono::milliseconds time, const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (!holds() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
    return holds();
  }
};

TEST_F(FakeSysfs, StatePhysicalStateAndGuidAreRead) {
  const auto found = read()();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->guid, Guid{0xb8ce'f603'00aa'0102});
  EXPECT_TRUE(found->link_up);
  write("state", "1: DOWN\n");
  write("phys_state", "2: Polling\n");
  EXPECT_FALSE(read()()->link_up);
  std::filesystem::remove_all(port);
  EXPECT_EQ(read()().error().error, ENOENT);
}

TEST_F(FakeSysfs, WhatIsNoNumberAndNoGidIsAnError) {
  write("state", "");
  EXPECT_EQ(read()().error().error, EIO);
  write("state", "4: ACTIVE\n");
  write("gids/0", "fe80:0000:0000:0000:b8ce:f603:00aa\n");
  EXPECT_EQ(read()().error().error, EIO);
}

TEST_F(FakeSysfs, AChangeIsSeenByTheNextRead) {
  const PortWatch watch({.device = "mlx5_0", .port = PortNum{1}, .link_up = true}, read(), 5ms);
  write("state", "1: DOWN\n");
  EXPECT_TRUE(within(5s, [&] { return watch.latest() && !watch.latest()->link_up; }));
  std::filesystem::remove_all(port);
  EXPECT_TRUE(within(5s, [&] { return !watch.latest(); }));
}

TEST_F(FakeSysfs, AReadThatHangsKeepsNothingButItsOwnThread) {
  hang("state");
  {
    const PortWatch watch({.device = "mlx5_0", .port = PortNum{1}, .link_up = true}, read(), 5ms);
    ASSERT_TRUE(within(5s, [&] { return watch.reading_for() > 20ms; }));
    EXPECT_TRUE(watch.latest()->link_up) << "what was known before";

    std::ofstream(port / "state") << "1: DOWN\n";
    EXPECT_TRUE(within(5s, [&] { return watch.latest() && !watch.latest()->link_up; }));
    EXPECT_TRUE(within(5s, [&] { return watch.reading_for() > 20ms; })) << "it hangs again";
  }
  std::ofstream(port / "state") << "1: DOWN\n";  // so that the thread ends
}

}  // namespace
}  // namespace smd::umad
