// SPDX-License-Identifier: Apache-2.0
#include "smd/store/database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/store_lab.h"

namespace smd::store {
namespace {

using test::TemporaryFolder;

Database opened(const Place& place) {
  auto database = Database::open(place);
  if (!database) throw std::runtime_error(database.error().text);
  return std::move(*database);
}

TEST(Database, GivesBackWhatWasWritten) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    TemporaryFolder folder;
    const Place place{folder.path()};
    std::mt19937_64 random(seed);
    sm::Stored before, other;
    for (int i = 0; i < 10; ++i) {
      const auto now = test::changed(before, random);
      const auto now_other = test::changed(other, random);
      auto database = opened(place);
      const std::vector<Batch> batches{{"a", &before, &now}, {"b", i == 5 ? nullptr : &other, &now_other}};
      ASSERT_TRUE(database.write(batches));
      before = now, other = now_other;
      EXPECT_EQ(*opened(place).load("a"), before) << "seed " << seed;
      EXPECT_EQ(*opened({.directory = folder.path(), .read_only = true}).load("b"), other) << "seed " << seed;
    }
  }
}

/// Machines are rows of their own, of nodes that are there.
TEST(Database, GivesBackTheInventoryWithItsMachines) {
  TemporaryFolder folder;
  const Place place{folder.path()};
  const auto host = test::some_guid(1), leaf = test::some_guid(2);
  sm::Inventory inventory;
  inventory.put(host, {.type = NodeType::ca, .name = "h0", .lost_at = 7, .image = test::some_guid(9)});
  inventory.put(leaf, {.type = NodeType::switch_, .name = "leaf"});
  sm::Stored before;
  before.inventory = std::make_shared<const sm::Inventory>(inventory);
  ASSERT_TRUE(opened(place).write(std::vector<Batch>{{"a", nullptr, &before}}));
  EXPECT_EQ(*opened(place).load("a")->inventory, inventory);

  inventory.put(host, {.type = NodeType::ca, .name = "h0"});
  auto now = before;
  now.inventory = std::make_shared<const sm::Inventory>(inventory);
  ASSERT_TRUE(opened(place).write(std::vector<Batch>{{"a", &before, &now}}));
  EXPECT_EQ(*opened(place).load("a")->inventory, inventory) << "without a machine";

  inventory.forget(host);
  before = now;
  now.inventory = std::make_shared<const sm::Inventory>(inventory);
  ASSERT_TRUE(opened(place).write(std::vector<Batch>{{"a", &before, &now}}));
  EXPECT_EQ(*opened(place).load("a")->inventory, inventory) << "without the node";
}

TEST(Database, OfAnUnknownSubnetHasNothing) {
  TemporaryFolder folder;

  EXPECT_EQ(*opened({folder.path()}).load("a"), sm::Stored{});
}

TEST(Database, OnlyWhatDiffersIsWritten) {
  TemporaryFolder folder;
  sm::Stored before;
  for (std::uint16_t i = 1; i < 200; ++i) before.lids[test::some_guid(i)] = {Lid{i}, 0};
  auto now = before;
  now.lids[test::some_guid(7)] = {Lid{300}, 0};
  now.lids.erase(test::some_guid(9));
  std::vector<Change> changes;

  kinds()[0].difference(before, now, [&](Change change) { changes.push_back(std::move(change)); });

  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].value, (Cells{std::int64_t{300}, std::int64_t{0}}));
  EXPECT_EQ(changes[1].value, std::nullopt);
}

struct Unusable {
  const char* name;
  std::string (*bytes)(const std::filesystem::path& good);
  const char* reason;
};

void PrintTo(const Unusable& unusable, std::ostream* out) { *out << unusable.name; }

std::string with_sql(const std::filesystem::path& good, const std::string& sql) {
  {
    auto connection = Connection::open(good.string(), Connection::Mode::create);
    if (!connection || !connection->execute(sql)) throw std::runtime_error(sql);
  }
  return test::read_bytes(good);
}

class SetAsideFiles : public testing::TestWithParam<Unusable> {};

TEST_P(SetAsideFiles, AreKeptUnderAnotherNameAndANewOneIsMade) {
  TemporaryFolder folder;
  const Place place{folder.path()};
  std::mt19937_64 random(1);
  const auto stored = test::changed(sm::Stored{}, random);
  ASSERT_TRUE(opened(place).write(std::vector<Batch>{{"a", nullptr, &stored}}));
  const auto bytes = GetParam().bytes(place.file());
  test::write_file(place.file(), bytes);

  const auto database = Database::open(place);

  ASSERT_TRUE(database) << database.error().text;
  ASSERT_TRUE(database->set_aside());
  EXPECT_THAT(database->set_aside()->reason, testing::HasSubstr(GetParam().reason));
  EXPECT_EQ(test::read_bytes(database->set_aside()->kept_as), bytes);
  EXPECT_EQ(database->set_aside()->kept_as, folder.path() / "smd.db.set-aside-1");
  EXPECT_EQ(*opened(place).load("a"), sm::Stored{});
  EXPECT_FALSE(opened(place).set_aside());
}

INSTANTIATE_TEST_SUITE_P(
    Files, SetAsideFiles,
    testing::Values(
        Unusable{"garbage", [](const std::filesystem::path&) { return std::string(5000, 'x'); },
                 "not a database"},
        Unusable{"cut",
                 [](const std::filesystem::path& good) { return test::read_bytes(good).substr(0, 5000); },
                 "malformed"},
        Unusable{"newer",
                 [](const std::filesystem::path& good) { return with_sql(good, "PRAGMA user_version = 77"); },
                 "version 77 of a newer smd"},
        Unusable{
            "foreign",
            [](const std::filesystem::path& good) { return with_sql(good, "PRAGMA application_id = 5"); },
            "not a file of smd"},
        Unusable{"without_a_table",
                 [](const std::filesystem::path& good) { return with_sql(good, "DROP TABLE lids"); },
                 "lids"}),
    [](const auto& info) { return std::string(info.param.name); });

/// Files of version 2 have no column that says who has joined a port.
TEST(Database, BringsFilesOfEarlierVersionsOn) {
  TemporaryFolder folder;
  const Place place{folder.path()};
  sa::Registry registry;
  const Mgid mgid{{0xff, 0x12, 1}};
  registry.put_group(mgid, Lid{0xC001}, {}, false);
  registry.put_member({mgid, Guid{7}}, {.join_state = 1, .proxy = true});
  ASSERT_TRUE(opened(place).write(std::vector<Batch>{{"a", nullptr, nullptr, nullptr, &registry}}));
  with_sql(place.file(), "ALTER TABLE mcast_members DROP COLUMN joined_by; PRAGMA user_version = 2");

  auto database = Database::open(place);

  ASSERT_TRUE(database) << database.error().text;
  EXPECT_FALSE(database->set_aside());
  EXPECT_EQ(*database->load_registry("a"), registry);
}

/// Those of version 3 have subscriptions with LIDs that mean nothing.
TEST(Database, FindsSubscriptionsOfEarlierVersionsByWhatTheyMean) {
  TemporaryFolder folder;
  const Place place{folder.path()};
  const auto gid = Gid::of(kDefaultSubnetPrefix, Guid{5});
  const sa::SubscriptionKey of_all{.port = Guid{7}, .lid_begin = Lid{0xFFFF}};
  const sa::SubscriptionKey of_one{.port = Guid{7}, .gid = gid};
  const sa::SubscriptionKey of_some{.port = Guid{7}, .lid_begin = Lid{3}, .lid_end = Lid{9}};
  auto as_was = of_all, one_as_was = of_one;
  as_was.lid_end = Lid{0xFFFF};
  one_as_was.lid_begin = one_as_was.lid_end = Lid{0xFFFF};
  sa::Registry before, meant;
  for (const auto& key : {as_was, one_as_was, of_some}) before.put_subscription(key, {});
  for (const auto& key : {of_all, of_one, of_some}) meant.put_subscription(key, {});
  ASSERT_TRUE(opened(place).write(std::vector<Batch>{{"a", nullptr, nullptr, nullptr, &before}}));
  with_sql(place.file(), "PRAGMA user_version = 3");

  auto database = Database::open(place);

  ASSERT_TRUE(database) << database.error().text;
  EXPECT_EQ(*database->load_registry("a"), meant);
}

/// Those of version 5 have no table of P_Key indexes.
TEST(Database, KeepsWhatIsInAFileThatLacksATable) {
  TemporaryFolder folder;
  const Place place{folder.path()};
  std::mt19937_64 random(1);
  sm::Stored before;
  before = test::changed(before, random);
  before.pkeys.clear();
  ASSERT_TRUE(opened(place).write(std::vector<Batch>{{"a", nullptr, &before}}));
  with_sql(place.file(), "DROP TABLE pkey_index; PRAGMA user_version = 5");

  auto database = Database::open(place);

  ASSERT_TRUE(database) << database.error().text;
  EXPECT_FALSE(database->set_aside());
  EXPECT_EQ(*database->load("a"), before);
}

/// A table that files of this version may lack is made only where the version went up. When this fails: one
/// more in kSchemaVersion, a row in kSteps where a table changed, then the number and the tables here.
TEST(Database, VersionGoesUpWithTheTables) {
  std::uint64_t digest = 14695981039346656037U;  // FNV-1a
  const auto add = [&](const Table& table) {
    for (const char c : table.create()) digest = (digest ^ static_cast<unsigned char>(c)) * 1099511628211U;
  };
  for (const auto& kind : kinds()) add(kind);
  for (const auto& kind : registry_kinds()) add(kind);
  for (const auto& kind : policy_kinds()) add(kind);
  for (const auto& kind : replica_kinds()) add(kind);

  EXPECT_EQ(kSchemaVersion, 20);
  EXPECT_EQ(digest, 14850041480922619596U);
}

/// Whatever stands in the file: it is read, or found corrupt; it is never a crash.
TEST(Database, TakesAnyBytes) {
  TemporaryFolder folder;
  const Place place{folder.path()};
  std::mt19937_64 random(3);
  auto stored = sm::Stored{};
  for (int i = 0; i < 20; ++i) stored = test::changed(stored, random);
  ASSERT_TRUE(opened(place).write(std::vector<Batch>{{"a", nullptr, &stored}}));
  const auto good = test::read_bytes(place.file());
  std::size_t aside = 0, refused = 0;
  for (int round = 0; round < 400; ++round) {
    auto bytes = good;
    for (std::uint64_t i = 0, n = 1 + random() % 20; i < n; ++i) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    if (random() % 8 == 0) bytes.resize(random() % bytes.size());
    std::filesystem::remove_all(folder.path());
    std::filesystem::create_directory(folder.path());
    test::write_file(place.file(), bytes);

    auto database = Database::open(place);

    ASSERT_TRUE(database) << "round " << round << ": " << database.error().text;
    if (database->set_aside()) ++aside;
    const auto loaded = database->load("a");
    if (!loaded) ++refused;
    if (!loaded) EXPECT_EQ(loaded.error().kind, SqlError::Kind::corrupt) << loaded.error().text;
  }
  EXPECT_GT(aside, 50U);
  EXPECT_GT(refused, 0U);
}

}  // namespace
}  // namespace smd::store
