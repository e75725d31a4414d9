// SPDX-License-Identifier: Apache-2.0
#pragma once
// Outputs kept in tests/golden/: compared byte for byte, written anew with SMD_UPDATE_GOLDEN=1.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "tests/support/source_file.h"

namespace smd::test {

/// `name` is the file's path below tests/golden/.
inline void expect_golden(std::string_view name, std::string_view text) {
  const auto path = std::filesystem::path(source_file("tests/golden")) / name;
  if (std::getenv("SMD_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path << " is not there; SMD_UPDATE_GOLDEN=1 writes it";
  const std::string wanted{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, wanted) << "SMD_UPDATE_GOLDEN=1 writes " << path << " anew";
}

}  // namespace smd::test
