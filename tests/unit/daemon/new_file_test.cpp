// SPDX-License-Identifier: Apache-2.0
#include "smd/dump/new_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "tests/support/store_lab.h"

namespace smd::sm {
namespace {

std::string content(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

class NewFiles : public testing::Test {
 protected:
  NewFiles() { std::ofstream(victim_) << "mine"; }
  Folder folder() { return *Folder::open(temporary_.path() / "dumps", Folder::Links::refuse); }
  static bool put(const Folder& folder, const std::string& name, std::string_view text) {
    NewFile file(folder, name);
    return file.ok() && file.write(text) && file.finish();
  }

  test::TemporaryFolder temporary_;
  std::filesystem::path victim_ = temporary_.path() / "victim";
};

TEST_F(NewFiles, AppearWhenTheyAreWhole) {
  const auto there = folder();
  {
    NewFile file(there, "a");
    ASSERT_TRUE(file.write("whole"));
    EXPECT_FALSE(std::filesystem::exists(there.path() / "a"));
    ASSERT_TRUE(file.finish());
  }
  {
    NewFile lost(there, "b");
    ASSERT_TRUE(lost.write("half"));
  }
  EXPECT_EQ(content(there.path() / "a"), "whole");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(there.path()), {}), 1);
}

TEST_F(NewFiles, AreNotWrittenThroughSymbolicLinks) {
  const auto there = folder();
  for (const auto& name : {std::string("a"), fmt::format("a.new{}", ::getpid()), std::string("a.new")})
    std::filesystem::create_symlink(victim_, there.path() / name);

  EXPECT_TRUE(put(there, "a", "dump"));

  EXPECT_EQ(content(victim_), "mine");
  EXPECT_FALSE(std::filesystem::is_symlink(there.path() / "a"));
  EXPECT_EQ(content(there.path() / "a"), "dump");
}

TEST_F(NewFiles, StayInTheirFolderWhateverItsPathBecomes) {
  const auto there = folder();
  std::filesystem::create_directory(temporary_.path() / "elsewhere");
  std::filesystem::rename(there.path(), temporary_.path() / "moved");
  std::filesystem::create_symlink(temporary_.path() / "elsewhere", there.path());

  EXPECT_TRUE(put(there, "a", "dump"));

  EXPECT_TRUE(std::filesystem::is_empty(temporary_.path() / "elsewhere"));
  EXPECT_EQ(content(temporary_.path() / "moved" / "a"), "dump");
}

TEST_F(NewFiles, AFolderThatIsASymbolicLinkIsRefusedWhereLinksAre) {
  const auto there = folder();
  const auto link = temporary_.path() / "link";
  std::filesystem::create_symlink(there.path(), link);
  std::filesystem::create_symlink(there.path(), there.path() / "inner");

  EXPECT_TRUE(Folder::open(link, Folder::Links::follow));
  EXPECT_FALSE(Folder::open(link, Folder::Links::refuse));
  EXPECT_FALSE(Folder::open(link.string() + "/", Folder::Links::refuse));
  EXPECT_FALSE(there.inner("inner"));
  EXPECT_TRUE(there.inner("other"));
  EXPECT_TRUE(there.inner("other")) << "it is there already";
  EXPECT_EQ(Folder::open(link, Folder::Links::refuse).error(),
            link.string() + ": is a symbolic link; name the folder that it leads to");
}

}  // namespace
}  // namespace smd::sm
