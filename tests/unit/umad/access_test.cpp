// SPDX-License-Identifier: Apache-2.0
#include "mad/umad/access.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

namespace smd::umad {
namespace {

struct DeviceAccess : testing::Test {
  DeviceAccess() {
    std::string made = (std::filesystem::temp_directory_path() / "smd-access-XXXXXX").string();
    folder = ::mkdtemp(made.data());
  }
  ~DeviceAccess() override { std::filesystem::remove_all(folder); }
  void device(const std::string& name, const std::string& ibdev, int port) const {
    std::filesystem::create_directory(folder / name);
    std::ofstream(folder / name / "ibdev") << ibdev << '\n';
    std::ofstream(folder / name / "port") << port << '\n';
  }
  std::filesystem::path folder;
};

TEST_F(DeviceAccess, TheDeviceFileOfAPortIsFound) {
  device("issm0", "mlx5_0", 1);
  device("umad0", "mlx5_0", 1);
  device("umad1", "mlx5_0", 2);
  device("umad2", "mlx5_1", 1);

  EXPECT_EQ(device_file(folder, "mlx5_0", 2), "/dev/infiniband/umad1");
  EXPECT_EQ(device_file(folder, "mlx5_1", 1), "/dev/infiniband/umad2");
  EXPECT_EQ(device_file(folder, "mlx5_2", 1), "");
  EXPECT_EQ(device_file(folder / "none", "mlx5_0", 1), "");
}

TEST_F(DeviceAccess, ARefusalNamesModeOwnerAndGroupOfTheDevice) {
  const auto file = folder / "umad0";
  std::ofstream{file};
  ASSERT_EQ(::chmod(file.c_str(), 0640), 0);
  if (geteuid() == 0) ASSERT_EQ(::chown(file.c_str(), 54321, 0), 0);
  const auto user = geteuid() == 0 ? "54321:root mode 0640" : "mode 0640";

  EXPECT_NE(why_refused(file, EACCES).find(user), std::string::npos) << why_refused(file, EACCES);
  EXPECT_NE(
      why_refused(file, EACCES).find(fmt::format("this process has uid {}, gid {}", geteuid(), getegid())),
      std::string::npos);
  EXPECT_EQ(why_refused("", EACCES), "/dev/infiniband/umad* must be readable and writable for this user");
  for (const auto* cause : {"device cgroup", "restart the unit", "netns exclusive"})
    EXPECT_NE(why_refused("/dev/infiniband/umad0", EPERM).find(cause), std::string::npos) << cause;
  EXPECT_NE(why_refused(file, EPERM).find(user), std::string::npos) << why_refused(file, EPERM);
}

}  // namespace
}  // namespace smd::umad
