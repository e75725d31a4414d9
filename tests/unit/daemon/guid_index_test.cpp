// SPDX-License-Identifier: Apache-2.0
#include "mad/base/guid_index.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <unordered_map>

namespace smd::base {
namespace {

RC_GTEST_PROP(GuidIndex, FindsWhatAMapFinds, (std::vector<std::uint16_t> guids)) {
  GuidIndex index(guids.size());
  std::unordered_map<Guid, std::uint32_t> map;
  for (std::uint32_t i = 0; i < guids.size(); ++i) {
    // As fabrics have them: one behind the other, and some far away; now and then one twice.
    const Guid guid{(guids[i] % 2 == 0 ? 0x0002c90000000000U : 0U) + guids[i] / 8};
    index.add(guid, i);
    map.emplace(guid, i);
  }
  for (std::uint64_t low = 0; low < 0x2100; ++low) {
    for (const Guid guid : {Guid{low}, Guid{0x0002c90000000000U + low}}) {
      const auto found = map.find(guid);
      RC_ASSERT(index.find(guid) == (found != map.end() ? found->second : GuidIndex::kNone));
    }
  }
}

TEST(GuidIndex, OfNothingHasNothing) { EXPECT_EQ(GuidIndex(0).find(Guid{1}), GuidIndex::kNone); }

}  // namespace
}  // namespace smd::base
