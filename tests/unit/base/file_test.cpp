// SPDX-License-Identifier: Apache-2.0
#include "mad/base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

namespace smd::base {
namespace {

TEST(ReadFile, HasEveryByteAndNamesWhatIsMissing) {
  const auto path = testing::TempDir() + "smd-file-test";
  const std::string bytes = std::string(200'000, 'x') + '\0' + "end";
  std::ofstream(path, std::ios::binary) << bytes;

  EXPECT_EQ(read_file(path), bytes);
  std::filesystem::remove(path);
  const auto missing = read_file(path);
  ASSERT_FALSE(missing);
  EXPECT_EQ(to_string(missing.error()), path + ": No such file or directory");
  EXPECT_EQ(read_file(testing::TempDir()).error().what, "Is a directory");
}

TEST(ReadToEnd, TakesPipesAndLeavesThemOpen) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const Descriptor out(ends[0]);
  {
    const Descriptor in(ends[1]);
    ASSERT_EQ(::write(in.get(), "two\nlines", 9), 9);
  }

  EXPECT_EQ(read_to_end(out.get()), "two\nlines");
  EXPECT_NE(::fcntl(out.get(), F_GETFD), -1);
}

TEST(Descriptor, IsClosedOnceByItsLastOwner) {
  const int number = ::dup(STDERR_FILENO);
  ASSERT_GE(number, 0);
  {
    Descriptor first(number);
    const Descriptor second(std::move(first));
    EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): that it is empty is the point
    EXPECT_EQ(second.get(), number);
  }

  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
}

TEST(FileNameOf, AnyTextIsOnePartOfAPath) {
  EXPECT_EQ(file_name_of("ft3:8-2"), "ft3:8-2");
  EXPECT_EQ(file_name_of("a/b"), "a%2fb");
  EXPECT_EQ(file_name_of(".."), "%2e.");
  EXPECT_EQ(file_name_of("a\nb"), "a%0ab");
  EXPECT_EQ(file_name_of("Fabrik Süd"), "Fabrik Süd");
}

TEST(FileNameOf, NoTwoAreAlike) {
  EXPECT_NE(file_name_of("a/b"), file_name_of("a_b"));
  EXPECT_NE(file_name_of("a/b"), file_name_of("a%2fb"));
}

}  // namespace
}  // namespace smd::base
