// SPDX-License-Identifier: Apache-2.0
#include "smd/daemon/program_name.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace smd::daemon {
namespace {

TEST(ProgramName, IsWhatTheShellFinds) {
  std::string made = (std::filesystem::temp_directory_path() / "smd-name-XXXXXX").string();
  const std::filesystem::path folder = ::mkdtemp(made.data());
  for (const auto* one : {"bin", "sbin", "build/bin"}) {
    std::filesystem::create_directories(folder / one);
    if (one != std::string("sbin")) std::ofstream(folder / one / "smd") << one;
  }
  std::filesystem::create_symlink("../bin/smd", folder / "sbin" / "smd");
  const auto installed = folder / "bin/smd", built = folder / "build/bin/smd";
  const auto path =
      (folder / "none").string() + ":" + (folder / "sbin").string() + ":" + (folder / "build/bin").string();

  EXPECT_EQ(program_name(installed, path, "/"), "smd") << "by a link";
  EXPECT_EQ(program_name(built, path, folder), "build/bin/smd") << "another one comes first";
  EXPECT_EQ(program_name(built, "/nowhere:relative", folder), "build/bin/smd");
  EXPECT_EQ(program_name(built, "", folder / "bin"), built.string());
  EXPECT_EQ(program_name(built, (folder / "build/bin").string(), folder), "smd");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace smd::daemon
