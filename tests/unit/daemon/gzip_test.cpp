// SPDX-License-Identifier: Apache-2.0
#include "smd/api/gzip.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/support/gunzip.h"

namespace smd::api {
namespace {

TEST(Gzip, PiecesAreOneText) {
  std::mt19937_64 random(1);
  for (const std::size_t size : {0U, 1U, 1'000U, 300'000U, 3'000'000U}) {
    std::string text, packed;
    Gzip gzip;
    while (text.size() < size) {
      // Text that does not get smaller, too.
      std::string piece(1 + random() % 100'000, 'a');
      if (random() % 2 == 0) {
        for (auto& c : piece) c = static_cast<char>(random());
      }
      packed += gzip.add(piece, false);
      text += piece;
    }
    packed += gzip.add({}, true);
    EXPECT_EQ(test::gunzip(packed) == text, true) << size;
  }
}

TEST(Gzip, IsTakenByThoseWhoSaySo) {
  for (const auto* yes : {"gzip", "br, gzip", "gzip;q=0.5", "deflate,\tgzip ;q=1", "x-gzip"})
    EXPECT_TRUE(takes_gzip(yes)) << yes;
  for (const auto* no : {"", "identity", "gzip;q=0", "gzip; q=0.000", "gzippy", ",", ";gzip"})
    EXPECT_FALSE(takes_gzip(no)) << no;
}

}  // namespace
}  // namespace smd::api
