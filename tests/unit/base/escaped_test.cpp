// SPDX-License-Identifier: Apache-2.0
#include "mad/base/escaped.h"

#include <gtest/gtest.h>

namespace smd::base {
namespace {

TEST(Escaped, ControlsOfATerminalAreShownByTheirNumbers) {
  EXPECT_EQ(escaped("h1\x1b[31m\n\t\x7f"), "h1\\x1b[31m\\x0a\\x09\\x7f");
  EXPECT_EQ(escaped("\xC2\x85|\xC2\x9B|\xC2\xA0"), "\\u0085|\\u009b|\xC2\xA0");
  EXPECT_EQ(escaped("a\xE2\x80\xAE"
                    "b\xE2\x81\xA6"
                    "c\xE2\x80\xA8\xE2\x80\xA9"),
            "a\\u202eb\\u2066c\\u2028\\u2029");
}

TEST(Escaped, OtherTextStays) {
  EXPECT_EQ(escaped("Kn\xC3\xB6ten \\x \xE2\x82\xAC \xF0\x9F\x98\x80"),
            "Kn\xC3\xB6ten \\x \xE2\x82\xAC \xF0\x9F\x98\x80");
  EXPECT_EQ(escaped(""), "");
}

TEST(KeptName, IsTheSameHoweverANameIsWritten) {
  for (const auto* words : {"tab x", "tab\tx", "tab\\x09x"}) EXPECT_EQ(kept_name(words), "tab x") << words;
  EXPECT_EQ(kept_name("esc\\x1b*"), "esc *");
  EXPECT_EQ(kept_name("a\\u202eb\\u0085c\\xff"),
            "a\xE2\x80\xAE"
            "b\xC2\x85"
            "c\xff");
  EXPECT_EQ(kept_name("a\\x41\\u00e9\\x1\\"), "a\\x41\\u00e9\\x1\\") << "escaped() writes nothing of it";
}

TEST(Escaped, BytesThatAreNoUtf8AreShownByTheirNumbers) {
  EXPECT_EQ(escaped("\xff|\xC0\xAF|\xE2\x80|\xED\xA0\x80|\x9B"),
            "\\xff|\\xc0\\xaf|\\xe2\\x80|\\xed\\xa0\\x80|\\x9b");
}

}  // namespace
}  // namespace smd::base
