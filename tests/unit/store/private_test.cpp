// SPDX-License-Identifier: Apache-2.0
// Who may read the state.
#include "smd/store/private.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "mad/base/descriptor.h"
#include "smd/store/event_file.h"
#include "smd/store/subnet_states.h"
#include "tests/support/store_lab.h"

namespace smd::store {
namespace {

unsigned mode_of(const std::filesystem::path& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 ? info.st_mode & 0777U : 0U;
}

/// The umask of the process for the length of a test.
class Umask {
 public:
  explicit Umask(mode_t mask) : before_(umask(mask)) {}
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;
  ~Umask() { umask(before_); }

 private:
  mode_t before_;
};

/// A daemon's state, with rows in it, while it runs.
void keep_something(const Place& place, const std::function<void()>& look) {
  test::KeptLines lines;
  SubnetStates shelves(place, lines.log);
  ASSERT_TRUE(shelves.open("a"));
  auto stored = std::make_shared<sm::Stored>();
  stored->lids[test::some_guid(7)] = {Lid{300}, 0};
  shelves.put("a", stored);
  ASSERT_TRUE(shelves.write());
  look();
}

/// As another process sees it: its own locks are none to a process.
bool is_locked(const std::filesystem::path& path) {
  const base::Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  const auto child = ::fork();
  if (child == 0) {
    struct flock lock{};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    const bool told = ::fcntl(file.get(), F_GETLK, &lock) == 0;
    ::_exit(told && lock.l_type != F_UNLCK ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

class Private : public testing::TestWithParam<mode_t> {};

TEST_P(Private, TheStateIsItsOwnersAloneWhateverTheUmask) {
  const test::TemporaryFolder folder;
  const auto directory = folder.path() / "state" / "smd";
  const Umask umask(GetParam());

  keep_something({.directory = directory}, [&] {
    EXPECT_EQ(mode_of(directory), 0700U);
    EXPECT_EQ(mode_of(directory.parent_path()), 0700U);
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      EXPECT_EQ(mode_of(entry.path()), 0600U) << entry.path();
      ++files;
    }
    EXPECT_GE(files, 4U) << "smd.db, -wal, -shm and a lock";
  });
}
INSTANTIATE_TEST_SUITE_P(Umasks, Private, testing::Values(0, 022, 077, 0777));

/// Without its locks another program that opens the file and ends takes the log away, and all that is written
/// later with it.
TEST(PrivateFiles, ASecondConnectionLeavesTheFirstOneItsLocks) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "events.db";
  auto first = EventFile::open(path);
  ASSERT_TRUE(first);
  ASSERT_TRUE(first->ends());
  const auto second = EventFile::open(path);
  ASSERT_TRUE(second);

  EXPECT_TRUE(is_locked(path.string() + "-shm"));
}

TEST(PrivateFiles, OfAnEarlierVersionAreClosedAndItsFolderStays) {
  const test::TemporaryFolder folder;
  const auto directory = folder.path() / "state";
  std::filesystem::create_directory(directory);
  std::filesystem::permissions(directory, std::filesystem::perms{0755});
  keep_something({.directory = directory}, [] {});
  std::filesystem::permissions(directory / "smd.db", std::filesystem::perms{0644});

  keep_something({.directory = directory}, [&] {
    EXPECT_EQ(mode_of(directory / "smd.db"), 0600U);
    EXPECT_EQ(mode_of(directory / "smd.db-wal"), 0600U);
    EXPECT_EQ(mode_of(directory), 0755U) << "it may be anybody's";
  });
}

}  // namespace
}  // namespace smd::store
