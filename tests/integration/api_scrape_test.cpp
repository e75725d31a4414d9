// SPDX-License-Identifier: Apache-2.0
// Metrics of a large fabric are made a piece at a time.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "smd/api/router.h"
#include "tests/support/api_backend.h"
#include "tests/support/gunzip.h"
#include "tests/support/managed_world.h"

namespace smd {
namespace {

class ApiScrape : public testing::Test {
 protected:
  ApiScrape() {
    sim::World world(test::spec("ft2:36"));
    test::Managed manager(world, {}, test::once());
    world.run(manager->run());
    snapshot_ = std::make_shared<sm::Snapshot>(manager.last());
    backend_.add({.name = "f", .port = "p", .snapshot = snapshot_});
  }
  std::vector<std::string> pieces(const std::string& target, const std::string& encoding = {}) {
    const auto answer =
        api::answer({.method = "GET", .target = target, .body = {}, .accept_encoding = encoding}, backend_);
    EXPECT_EQ(answer.status, 200U) << answer.body;
    std::vector<std::string> all{answer.body};
    while (answer.rest) {
      const auto piece = answer.rest->next(0, false);
      if (!piece) break;
      all.push_back(*piece);
    }
    return all;
  }
  static std::string whole(const std::vector<std::string>& pieces) {
    std::string text;
    for (const auto& piece : pieces) text += piece;
    return text;
  }
  /// Samples of each family; no sample comes twice.
  static std::map<std::string, std::size_t> samples(const std::string& metrics) {
    std::map<std::string, std::size_t> counts;
    std::set<std::string> seen;
    std::istringstream text(metrics);
    for (std::string line; std::getline(text, line);) {
      EXPECT_TRUE(seen.insert(line).second) << line;
      if (!line.starts_with('#')) ++counts[line.substr(0, line.find_first_of("{ "))];
    }
    return counts;
  }

  std::shared_ptr<sm::Snapshot> snapshot_;
  test::FakeBackend backend_;
};

/// Of tens of thousands of ports one family is tens of megabytes.
TEST_F(ApiScrape, AFamilyOfManyPortsIsNotInMemoryAtOnce) {
  constexpr std::size_t kPiece = std::size_t{256} * 1024, kOneNode = std::size_t{16} * 1024;
  const std::size_t links = snapshot_->summary.links, hosts = snapshot_->summary.cas;
  const auto all = pieces("/metrics");
  for (const auto& piece : all) EXPECT_LE(piece.size(), kPiece + kOneNode);
  auto counts = samples(whole(all));
  EXPECT_EQ(counts["infiniband_switch_info"], snapshot_->summary.switches);
  EXPECT_EQ(counts["infiniband_switch_uplink_info"], 2 * links - hosts);
  EXPECT_EQ(counts["infiniband_switch_port_rate_bytes_per_second"], 2 * links - hosts);
  EXPECT_EQ(counts["infiniband_hca_uplink_info"], hosts);
  EXPECT_EQ(counts["infiniband_hca_raw_rate_bytes_per_second"], hosts);

  const auto exporter = pieces("/metrics/guilbaults");
  for (const auto& piece : exporter) EXPECT_LE(piece.size(), kPiece + kOneNode);
  counts = samples(whole(exporter));
  EXPECT_EQ(counts["infiniband_speed"], 2 * links);
  EXPECT_EQ(counts["infiniband_width"], 2 * links);
  EXPECT_EQ(counts["infiniband_scrape_ok"], 1U);
}

TEST_F(ApiScrape, PiecesAreTheSameTextCompressedAndFiltered) {
  const auto plain = whole(pieces("/metrics"));
  EXPECT_EQ(test::gunzip(whole(pieces("/metrics", "gzip"))), plain);

  const auto family = whole(pieces("/metrics?family=infiniband_switch_uplink_info"));
  EXPECT_NE(plain.find(family), std::string::npos) << "one piece of the whole, in its order";
  EXPECT_EQ(samples(family).size(), 1U);
  const auto one = samples(whole(pieces("/metrics?family=infiniband_switch_uplink_info&node=leaf000")));
  EXPECT_EQ(one.at("infiniband_switch_uplink_info"), 36U);
}

}  // namespace
}  // namespace smd
