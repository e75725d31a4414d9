// SPDX-License-Identifier: Apache-2.0
// A master whose snapshots are wrong costs its standby a warning, and nothing of what the standby has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "tests/support/replica_data.h"
#include "tests/support/replica_site.h"

namespace smd {
namespace {

using replica::SnapshotChunk;
using std::chrono::seconds;
using WireBytes = std::vector<std::uint8_t>;

constexpr auto* kSource = "h00000";
constexpr auto* kCopy = "h00003";

bool is_frame(const WireBytes& bytes, std::uint8_t type) { return bytes.size() > 5 && bytes[4] == type; }
bool is_chunk(const WireBytes& bytes) { return is_frame(bytes, 4); }

void say_length(WireBytes& bytes, std::size_t length) {
  for (unsigned i = 0; i < 4; ++i) bytes[i] = static_cast<std::uint8_t>(length >> (24U - 8U * i));
}

/// Makes a frame of type T another one.
template <class T>
void edit(WireBytes& bytes, const std::function<void(T&)>& change) {
  replica::FrameReader reader;
  reader.add(bytes);
  auto frame = reader.next();
  if (!frame || !*frame || !std::holds_alternative<T>(**frame)) return;
  change(std::get<T>(**frame));
  bytes = replica::encode(**frame);
}

/// A master and a standby with members of a group; the standby has missed the last mastership, so that it is
/// sent a snapshot.
class Chunks : public testing::Test {
 protected:
  Chunks() {
    start(kSource, 5, kCopy);
    start(kCopy, 3, kSource);
    register_member(0);
    site_.world.run_for(seconds(3));
    site_.kill(kCopy);
    site_.kill(kSource);
    start(kSource, 5, kCopy);
    site_.world.run_for(seconds(2));
    register_member(1);
    before_ = kept_by_copy();
    EXPECT_EQ(members(kCopy), 1U);
  }
  void start(const std::string& host, std::uint8_t priority, const std::string& peer) {
    config::SubnetConfig config;
    config.sm.priority = priority;
    site_.start(host, config, {peer});
  }
  void register_member(std::size_t number) {
    constexpr Mgid group{{0xff, 0x12, 0xa0, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9}};
    const auto& now = site_[kSource].last();
    std::vector<Guid> ports;
    for (const auto& node : now.subnet->nodes) {
      if (!node->is_switch()) ports.push_back(node->ports[1].guid);
    }
    site_[kSource].register_now([&](sa::Registry& registry) {
      if (!registry.groups().contains(group))
        registry.put_group(group, Lid{0xC005}, {.pkey = kDefaultPKey}, false);
      registry.put_member({group, ports.at(number)}, {.join_state = 1});
    });
  }
  /// Which clients need not be asked again is not known any more while another SM is master.
  replica::Digests kept_by_copy() {
    auto digests = test::on_disk(site_.disks[kCopy]);
    digests.erase("clients");
    return digests;
  }
  std::size_t members(const std::string& host) { return site_.disks[host].registry()->members().size(); }
  std::size_t said(std::string_view what) { return site_[kCopy].lines.count(std::string(what)); }
  std::string lines() { return testing::PrintToString(site_[kCopy].lines.all); }
  void expect_both_serve(std::size_t registered = 2) {
    EXPECT_TRUE(site_[kSource].is_master());
    EXPECT_FALSE(site_[kCopy].is_master());
    EXPECT_EQ(site_[kSource].last().summary.state, sm::SweepState::up);
    EXPECT_EQ(site_[kSource].registry().members().size(), registered);
  }
  void expect_equal() {
    EXPECT_EQ(test::on_disk(site_.disks[kCopy]), test::on_disk(site_.disks[kSource]))
        << testing::PrintToString(
               replica::differing(test::on_disk(site_.disks[kCopy]), test::on_disk(site_.disks[kSource])))
        << lines();
  }

  test::ReplicaSite site_{"ft2:4"};
  replica::Digests before_;
};

struct WrongChunk {
  const char* name;
  std::function<void(WireBytes&)> spoil;
  const char* said;  ///< in the standby's log; empty: only that the stream is not complete
  friend void PrintTo(const WrongChunk& wrong, std::ostream* out) { *out << wrong.name; }
};

class WrongChunks : public Chunks, public testing::WithParamInterface<WrongChunk> {};

TEST_P(WrongChunks, CostAWarningAndNoChange) {
  site_.network.spoil = [](WireBytes& bytes) {
    if (is_chunk(bytes)) GetParam().spoil(bytes);
  };
  start(kCopy, 3, kSource);
  site_.world.run_for(seconds(20));

  expect_both_serve();
  EXPECT_EQ(kept_by_copy(), before_);
  EXPECT_EQ(site_[kCopy].registry().members().size(), 1U);
  EXPECT_NE(site_[kCopy].store().view()->role, replica::ReplicaView::Role::current);
  if (*GetParam().said != '\0') EXPECT_GE(said(GetParam().said), 1U) << lines();

  site_.network.spoil = nullptr;
  site_.world.run_for(seconds(12));
  register_member(2);  // a stream that waits for more goes on, or begins anew
  site_.world.run_for(seconds(12));

  expect_both_serve(3);
  expect_equal();
  EXPECT_EQ(site_[kCopy].store().view()->role, replica::ReplicaView::Role::current) << lines();
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongChunks,
    testing::Values(
        WrongChunk{"cut_within_a_frame",
                   [](WireBytes& bytes) {
                     bytes.resize(bytes.size() - 7);
                     say_length(bytes, bytes.size() - 4);
                   },
                   "a wrong frame of type 4"},
        WrongChunk{"cut_within_the_stream", [](WireBytes& bytes) { bytes.resize(bytes.size() / 2); }, ""},
        WrongChunk{"in_the_wrong_order",
                   [](WireBytes& bytes) {
                     edit<SnapshotChunk>(bytes,
                                         [](SnapshotChunk& chunk) { chunk.count = ++chunk.index + 1; });
                   },
                   "chunk 1 of a snapshot after 0"},
        WrongChunk{"behind_the_last",
                   [](WireBytes& bytes) {
                     edit<SnapshotChunk>(bytes, [](SnapshotChunk& chunk) { chunk.index = chunk.count; });
                   },
                   "a wrong frame of type 4"},
        WrongChunk{
            "of_more_than_come",
            [](WireBytes& bytes) { edit<SnapshotChunk>(bytes, [](SnapshotChunk& chunk) { ++chunk.count; }); },
            ""},
        WrongChunk{"larger_than_said",
                   [](WireBytes& bytes) {
                     bytes.insert(bytes.end(), 9, 0);
                     say_length(bytes, bytes.size() - 4);
                   },
                   "a wrong frame of type 4"},
        WrongChunk{"of_a_length_that_cannot_be", [](WireBytes& bytes) { say_length(bytes, 0x7FFFFFFF); },
                   "a frame of 2147483647 bytes"},
        WrongChunk{"with_a_row_that_makes_no_sense",
                   [](WireBytes& bytes) {
                     edit<SnapshotChunk>(bytes, [](SnapshotChunk& chunk) {
                       chunk.rows.push_back(
                           {.kind = "lids",
                            .changes = {{.key = {std::string("none")}, .value = replica::Cells{}}}});
                     });
                   },
                   "a row of lids makes no sense"}),
    [](const auto& wrong) { return std::string(wrong.param.name); });

/// What smd does not know it carries along; that the master does not have it is found by the digests.
TEST_F(Chunks, AKindThatIsNotKnownChangesNoneThatIs) {
  bool spoils = true;
  site_.network.spoil = [&](WireBytes& bytes) {
    if (!spoils || !is_chunk(bytes)) return;
    edit<SnapshotChunk>(bytes, [](SnapshotChunk& chunk) {
      chunk.rows.push_back(
          {.kind = "of_tomorrow", .changes = {{.key = {std::string("x")}, .value = replica::Cells{}}}});
    });
  };
  start(kCopy, 3, kSource);
  site_.world.run_for(seconds(2));
  EXPECT_EQ(site_.disks[kCopy].replica()->carried.size(), 1U) << lines();
  EXPECT_EQ(members(kCopy), 2U);
  auto with_it = test::on_disk(site_.disks[kCopy]);
  with_it.erase("of_tomorrow");
  EXPECT_EQ(with_it, test::on_disk(site_.disks[kSource]));

  spoils = false;
  site_.world.run_for(seconds(25));

  EXPECT_GE(said("ha.replica_differs"), 1U) << lines();
  expect_equal();
}

TEST_F(Chunks, AWrongDigestIsSaidAndTheStateCopiedAnew) {
  bool spoils = true;
  site_.network.spoil = [&](WireBytes& bytes) {
    if (!spoils || !is_frame(bytes, 8)) return;
    edit<replica::DigestsAt>(bytes, [](replica::DigestsAt& word) { word.digests["lids"] ^= 1U; });
  };
  start(kCopy, 3, kSource);
  site_.world.run_for(seconds(25));

  expect_both_serve();
  EXPECT_GE(said("ha.replica_differs kinds=lids"), 1U) << lines();
  expect_equal();

  spoils = false;
  site_.world.run_for(seconds(25));

  EXPECT_EQ(site_[kCopy].store().view()->role, replica::ReplicaView::Role::current) << lines();
  expect_equal();
}

/// Bytes that follow a whole frame, and are none.
TEST_F(Chunks, WhatCameWholeBeforeGarbageIsKept) {
  unsigned spoiled = 0;
  site_.network.spoil = [&](WireBytes& bytes) {
    if (is_chunk(bytes) && spoiled++ == 0) bytes.insert(bytes.end(), 9, 0);
  };
  start(kCopy, 3, kSource);
  site_.world.run_for(seconds(10));

  EXPECT_GE(said("a frame of 0 bytes"), 1U) << lines();
  EXPECT_EQ(spoiled, 1U) << "the stream goes on, and does not begin anew";
  expect_both_serve();
  expect_equal();
  EXPECT_EQ(site_[kCopy].store().view()->role, replica::ReplicaView::Role::current) << lines();
}

}  // namespace
}  // namespace smd
