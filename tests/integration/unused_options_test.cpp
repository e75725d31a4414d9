// SPDX-License-Identifier: Apache-2.0
// A list of [routing] that the engine in force does not read, and what is said beside it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "tests/support/kept_manager.h"

namespace smd {
namespace {

using ::testing::HasSubstr;

class UnusedOptions : public ::testing::Test, protected test::KeptManager {
 protected:
  UnusedOptions() : KeptManager(test::spec("hyperx:4x4:1+guids=8")) {
    config_.routing.engines = {"ftree", "nue"};
    config_.routing.root_guids = {Guid{1}};
  }
};

TEST_F(UnusedOptions, DoNotHideWhyAnEngineWasPassedOver) {
  begin();
  ASSERT_EQ(routes().engine, "nue");

  EXPECT_EQ(routes().why, "");
  EXPECT_EQ(routes().shape, "");
  EXPECT_THAT(manager_->lines().first("routing.fell_back"), HasSubstr("from=ftree to=nue"));
  EXPECT_THAT(manager_->lines().first("routing.option_unused"), HasSubstr("nue has no use for root_guids"));
}

TEST_F(UnusedOptions, OfAFileOfTablesThatIsNotUsedAreNamed) {
  config_.routing.engines = {"file", "updn"};
  config_.routing.root_guids = {};
  config_.routing.loaded_tables = std::make_shared<decltype(config_.routing.loaded_tables)::element_type>();

  begin();

  ASSERT_EQ(routes().engine, "updn");
  EXPECT_THAT(manager_->lines().first("routing.option_unused"), HasSubstr("updn has no use for tables_file"));
}

TEST_F(UnusedOptions, AreNotNamedWhereTheEngineReadsThem) {
  config_.routing.engines = {"updn"};

  begin();

  ASSERT_EQ(routes().engine, "updn");
  EXPECT_EQ(manager_->lines().count("routing.option_unused"), 0U);
}

}  // namespace
}  // namespace smd
