// SPDX-License-Identifier: Apache-2.0
// Files with keys are refused where others have rights to them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "config/load.h"

namespace smd::config {
namespace {

class SecretFile : public testing::Test {
 protected:
  SecretFile() {
    std::string folder = (std::filesystem::temp_directory_path() / "smd-secret-XXXXXX").string();
    folder_ = mkdtemp(folder.data());
    path_ = folder_ / "key";
    std::ofstream(path_) << "0x1234\n";
  }
  ~SecretFile() override {
    unsetenv("CREDENTIALS_DIRECTORY");
    std::filesystem::remove_all(folder_);
  }
  std::expected<std::string, std::string> read(mode_t mode) {
    EXPECT_EQ(chmod(path_.c_str(), mode), 0);
    return read_secret_file(path_);
  }
  std::filesystem::path folder_, path_;
};

TEST_F(SecretFile, OfTheOwnerAloneIsRead) {
  EXPECT_EQ(read(0600), "0x1234\n");
  EXPECT_EQ(read(0400), "0x1234\n");
}

TEST_F(SecretFile, ThatOthersCanReadOrWriteIsRefused) {
  for (const unsigned mode : {0644U, 0604U, 0602U, 0666U, 0601U}) {
    const auto bytes = read(mode);
    ASSERT_FALSE(bytes) << std::oct << mode;
    EXPECT_THAT(bytes.error(), testing::HasSubstr("all users"));
  }
}

TEST_F(SecretFile, ThatItsGroupCanWriteIsRefused) {
  EXPECT_THAT(read(0660).error(), testing::HasSubstr("its group can write it"));
}

TEST_F(SecretFile, OfTheOwnGroupMayBeReadByIt) { EXPECT_TRUE(read(0640)); }

TEST_F(SecretFile, OfAnotherGroupIsRefusedUnlessSystemdMadeIt) {
  constexpr gid_t kOther = 12345;
  if (chown(path_.c_str(), static_cast<uid_t>(-1), kOther) != 0) GTEST_SKIP() << "needs root";
  EXPECT_THAT(read(0640).error(), testing::HasSubstr("group 12345 can read it"));

  setenv("CREDENTIALS_DIRECTORY", folder_.c_str(), 1);
  EXPECT_TRUE(read(0440));
}

TEST_F(SecretFile, ThatIsMissingSaysSo) {
  EXPECT_EQ(read_secret_file(folder_ / "none").error(), "No such file or directory");
}

}  // namespace
}  // namespace smd::config
