// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "smd/store/subnet_states.h"
#include "tests/support/faulty_vfs.h"
#include "tests/support/store_lab.h"

namespace smd::store {
namespace {

using test::KeptLines;
using test::TemporaryFolder;

/// What another process finds.
sm::Stored on_disk(const TemporaryFolder& folder, const std::string& subnet) {
  KeptLines lines;
  return **SubnetStates({folder.path()}, lines.log).open(subnet);
}

TEST(SubnetStates, ASecondHolderIsRefusedAndToldByWhom) {
  TemporaryFolder folder;
  KeptLines lines;
  SubnetStates first({folder.path()}, lines.log), second({folder.path()}, lines.log);
  ASSERT_TRUE(first.open("a"));

  const auto refused = second.open("a");

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), folder.path().string() + ": the state of subnet a is in use by process " +
                                 std::to_string(getpid()));
  EXPECT_TRUE(second.open("b"));
  first.close("a");
  EXPECT_TRUE(second.open("a"));
}

TEST(SubnetStates, TwoSubnetsOfOneFileDoNotSeeEachOther) {
  TemporaryFolder folder;
  KeptLines lines;
  SubnetStates shelves({folder.path()}, lines.log);
  ASSERT_TRUE(shelves.open("a"));
  ASSERT_TRUE(shelves.open("../b c"));
  shelves.put("a", test::some_state(1));
  shelves.put("../b c", test::some_state(2));
  ASSERT_TRUE(shelves.write());
  shelves.close("a");
  shelves.close("../b c");

  EXPECT_EQ(on_disk(folder, "a"), *test::some_state(1));
  EXPECT_EQ(on_disk(folder, "../b c"), *test::some_state(2));
  EXPECT_EQ(folder.count("%2e.%2fb c.lock"), 1U);
}

TEST(SubnetStates, AFullDiskIsOneLineAndTheStateIsWrittenLater) {
  for (const int code : {SQLITE_FULL, SQLITE_READONLY, SQLITE_IOERR}) {
    TemporaryFolder folder;
    KeptLines lines;
    test::FaultyVfs vfs("full");
    SubnetStates shelves({folder.path(), vfs.name()}, lines.log);
    ASSERT_TRUE(shelves.open("a"));
    shelves.put("a", test::some_state(1));
    ASSERT_TRUE(shelves.write());

    vfs.refuse(code);
    for (std::uint64_t seed = 2; seed < 6; ++seed) {
      shelves.put("a", test::some_state(seed));
      EXPECT_FALSE(shelves.write());
      EXPECT_TRUE(shelves.behind());
    }
    EXPECT_EQ(lines.count("store.failed"), 1U) << testing::PrintToString(*lines.lines);
    EXPECT_EQ(lines.lines->size(), 1U);

    vfs.refuse(SQLITE_OK);
    EXPECT_TRUE(shelves.write());
    EXPECT_FALSE(shelves.behind());
    EXPECT_EQ(lines.count("store.works_again"), 1U);
    shelves.close("a");
    EXPECT_EQ(on_disk(folder, "a"), *test::some_state(5));
  }
}

TEST(SubnetStates, ADirectoryThatCannotBeMadeIsOneLine) {
  TemporaryFolder folder;
  KeptLines lines;
  const auto directory = folder.path() / "file" / "state";
  test::write_file(folder.path() / "file", "");
  SubnetStates shelves({directory}, lines.log);

  const auto loaded = shelves.open("a");

  ASSERT_TRUE(loaded);
  EXPECT_EQ(**loaded, sm::Stored{});
  shelves.put("a", test::some_state(1));
  EXPECT_FALSE(shelves.write());
  EXPECT_THAT(*lines.lines, testing::ElementsAre(testing::HasSubstr("reason=\"Not a directory\"")));
  std::filesystem::remove(folder.path() / "file");
  EXPECT_TRUE(shelves.write());
  EXPECT_EQ(lines.lines->size(), 2U);
}

TEST(SubnetStates, ARowWithoutSenseSetsTheFileAside) {
  TemporaryFolder folder;
  KeptLines lines;
  ASSERT_EQ(on_disk(folder, "a"), sm::Stored{});
  {
    auto connection = Connection::open((folder.path() / "smd.db").string(), Connection::Mode::create);
    ASSERT_TRUE(connection->execute("INSERT INTO lids VALUES ('a', '0x0002c90000000001', 49152, 0)"));
  }
  SubnetStates shelves({folder.path()}, lines.log);

  const auto loaded = shelves.open("a");

  ASSERT_TRUE(loaded);
  EXPECT_EQ(**loaded, sm::Stored{});
  EXPECT_THAT(*lines.lines, testing::ElementsAre(testing::HasSubstr("store.set_aside")));
  EXPECT_EQ(folder.count("smd.db.set-aside-1"), 1U);
  shelves.put("a", test::some_state(1));
  EXPECT_TRUE(shelves.write());
}

TEST(SubnetStates, AFileThatWasRemovedIsWrittenAnew) {
  TemporaryFolder folder;
  KeptLines lines;
  SubnetStates shelves({folder.path()}, lines.log);
  ASSERT_TRUE(shelves.open("a"));
  shelves.put("a", test::some_state(1));
  ASSERT_TRUE(shelves.write());
  for (const auto* name : {"smd.db", "smd.db-wal", "smd.db-shm"})
    std::filesystem::remove(folder.path() / name);

  shelves.put("a", test::some_state(2));
  EXPECT_TRUE(shelves.write());
  shelves.close("a");

  EXPECT_EQ(on_disk(folder, "a"), *test::some_state(2));
  EXPECT_EQ(lines.count("store.file_gone"), 1U);
}

TEST(SubnetStates, ADryRunReadsBesideTheHolderAndWritesNothing) {
  TemporaryFolder folder;
  KeptLines lines;
  SubnetStates holder({folder.path()}, lines.log);
  ASSERT_TRUE(holder.open("a"));
  holder.put("a", test::some_state(1));
  ASSERT_TRUE(holder.write());
  SubnetStates looker({.directory = folder.path(), .read_only = true}, lines.log);

  const auto seen = looker.open("a");

  ASSERT_TRUE(seen);
  EXPECT_EQ(**seen, *test::some_state(1));
  TemporaryFolder empty;
  EXPECT_EQ(**SubnetStates({.directory = empty.path() / "none", .read_only = true}, lines.log).open("a"),
            sm::Stored{});
  EXPECT_FALSE(std::filesystem::exists(empty.path() / "none"));
  EXPECT_THAT(*lines.lines, testing::IsEmpty());
}

}  // namespace
}  // namespace smd::store
