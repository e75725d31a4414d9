// SPDX-License-Identifier: Apache-2.0
#include "mad/base/enum_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace smd::base {
namespace {

using ::testing::ElementsAre;

enum class Colour : std::uint8_t { red, green, blue = 31 };
using Colours = EnumSet<Colour>;

TEST(EnumSet, HoldsEachValueOnceInTheirOrder) {
  Colours set{Colour::blue, Colour::red, Colour::blue};

  std::vector<Colour> in_order;
  for (const auto colour : set) in_order.push_back(colour);
  EXPECT_THAT(in_order, ElementsAre(Colour::red, Colour::blue));
  EXPECT_TRUE(set.contains(Colour::red));
  EXPECT_FALSE(set.contains(Colour::green));
}

TEST(EnumSet, IsMergedAndTakenApart) {
  Colours set{Colour::red};
  set.insert(Colours{Colour::green, Colour::blue});
  set.erase(Colour::red);

  EXPECT_EQ(set, (Colours{Colour::green, Colour::blue}));
  EXPECT_EQ(set & Colours{Colour::green}, Colours{Colour::green});
  EXPECT_EQ(set | Colours{Colour::red}, (Colours{Colour::red, Colour::green, Colour::blue}));
  set.erase(Colours{Colour::green, Colour::blue});
  EXPECT_TRUE(set.empty());
}

}  // namespace
}  // namespace smd::base
