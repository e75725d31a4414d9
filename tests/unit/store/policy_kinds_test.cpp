// SPDX-License-Identifier: Apache-2.0
// Partitions of the API in the file: what is read is what was written last, and a change is few rows.
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <utility>

#include "smd/store/database.h"
#include "tests/support/store_lab.h"

namespace smd::store {
namespace {

using policy::ApiPartition;
using policy::Policies;

config::MemberRule member(std::uint64_t guid, config::Membership membership) {
  config::MemberRule rule{.membership = membership};
  rule.ports.terms.push_back({.kind = config::PortTermKind::guid, .first = Guid{guid}});
  rule.source.origin = config::PolicyOrigin::api;
  return rule;
}

/// As an API changes it: one partition or one member at a time.
Policies changed(Policies now, std::mt19937_64& random) {
  const auto name = std::string(1, static_cast<char>('a' + random() % 5));
  if (random() % 8 == 0) {
    now.api.erase(name);
    return now;
  }
  if (random() % 8 == 0) now.accepted = fmt::format("policy {}", random() % 100);
  if (random() % 8 == 0) now.accepted_by = Guid{random() % 3};
  if (random() % 8 == 0) {
    now.tokens[name] = {.role = static_cast<access::Role>(random() % 4),
                        .hash = access::hash_of(name),
                        .partitions = {"a b", "c"},
                        .made = 5,
                        .expires = static_cast<std::int64_t>(random() % 100),
                        .last_use = 7};
    return now;
  }
  if (random() % 8 == 0) {
    policy::keep_answer(now.answers, name,
                        {.digest = access::hash_of(name),
                         .status = 201,
                         .body = fmt::format("answer {}\n", random() % 100),
                         .made = static_cast<std::int64_t>(random() % 2 * policy::kAnswerKept)});
    return now;
  }
  if (random() % 16 == 0) now.tokens.erase(name);
  if (random() % 8 == 0) now.class_sls.insert_or_assign(name, Sl{static_cast<std::uint8_t>(random() % 16)});
  if (random() % 16 == 0) now.class_sls.erase(name);
  if (random() % 8 == 0) {
    const policy::PortAt at{Guid{1 + random() % 4}, PortNum{static_cast<std::uint8_t>(1 + random() % 3)}};
    if (random() % 3 == 0) now.disabled_ports.erase(at);
    if (random() % 3 != 0)
      now.disabled_ports[at] = {.peer = {Guid{random() % 3}, PortNum{1}}, .by = name, .since = 9};
    return now;
  }
  const auto before = now.api.find(name);
  auto after = std::make_shared<ApiPartition>(before != now.api.end() ? *before->second : ApiPartition{});
  after->name = name;
  after->source.origin = config::PolicyOrigin::api;
  after->pkey = static_cast<std::uint16_t>(name[0]);
  if (random() % 4 == 0) {
    after->ipoib = true;
    after->settings.rate = random() % 2 == 0 ? 16 : 2;
    after->settings.scopes = static_cast<std::uint16_t>(2U << random() % 15);
  }
  if (!after->members.empty() && random() % 2 == 0) {
    const auto all = std::exchange(after->members, {});
    const auto gone = random() % all.size();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i != gone) after->members.push_back(all[i]);
    }
  } else {
    after->members.push_back(member(1 + random() % 1000, static_cast<config::Membership>(random() % 3)));
  }
  now.api.insert_or_assign(name, after);
  return now;
}

TEST(PolicyKinds, HaveWhatWasWrittenLast) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    test::TemporaryFolder folder;
    const Place place{folder.path()};
    std::mt19937_64 random(seed);
    auto database = *Database::open(place);
    Policies before;
    bool known = false;
    for (int i = 0; i < 60; ++i) {
      const auto now = changed(before, random);
      known = known && random() % 10 != 0;  // else all rows are replaced
      ASSERT_TRUE(database.write(std::vector<Batch>{
          {.subnet = "a", .policies_before = known ? &before : nullptr, .policies_now = &now}}));
      ASSERT_TRUE(*Database::open(place)->load_policies("a") == now) << "seed " << seed << " step " << i;
      known = true;
      before = now;
    }
    EXPECT_TRUE(*Database::open(place)->load_policies("b") == Policies{});
  }
}

TEST(PolicyKinds, AMemberIsOneRow) {
  test::TemporaryFolder folder;
  const auto steps = std::make_shared<std::atomic<std::uint64_t>>(0);
  auto database = *Database::open({.directory = folder.path(), .steps = steps});
  auto one = std::make_shared<ApiPartition>();
  one->name = "a";
  one->pkey = 1;
  for (std::uint64_t i = 1; i <= 1000; ++i) one->members.push_back(member(i, config::Membership::full));
  Policies before;
  before.api.emplace("a", one);
  ASSERT_TRUE(database.write(std::vector<Batch>{{.subnet = "a", .policies_now = &before}}));
  auto more = std::make_shared<ApiPartition>(*one);
  more->members.push_back(member(5000, config::Membership::limited));
  Policies now;
  now.api.emplace("a", more);
  *steps = 0;

  ASSERT_TRUE(
      database.write(std::vector<Batch>{{.subnet = "a", .policies_before = &before, .policies_now = &now}}));

  EXPECT_EQ(steps->load(), 1U);
}

}  // namespace
}  // namespace smd::store
