// SPDX-License-Identifier: Apache-2.0
// [[api.webhook]]
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/config/support.h"

namespace smd::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Webhook, IsReadWithItsPatterns) {
  const auto config = load_text(
      "[[api.webhook]]\nurl = \"https://a.example:8443/x\"\nsecret_file = \"/s\"\nevents = [\"link.*\", "
      "\"node.gone\"]\n"
      "[[api.webhook]]\nurl = \"http://[fd00::1]/\"\nsecret_file = \"/s\"\n",
      "smd.toml", {}, context_with());
  ASSERT_TRUE(config) << to_string(config.error().at(0));
  ASSERT_EQ(config->api.webhook.size(), 2U);
  EXPECT_THAT(config->api.webhook[0].events, ElementsAre("link.*", "node.gone"));
  EXPECT_EQ(config->api.webhook[1].url, "http://[fd00::1]/");
}

TEST(Webhook, AWrongUrlIsNamed) {
  for (const auto* url : {"", "a.example", "ftp://a/", "https://", "https:///x", "https://u:p@a/",
                          "https://a b/", "https://a:0/", "https://a:x/", "https://a?x", "https://a/#x"}) {
    const auto text = std::string("[[api.webhook]]\nurl = \"") + url + "\"\nsecret_file = \"/s\"\n";
    EXPECT_THAT(errors_of(text), ElementsAre(HasSubstr("webhook[0].url"))) << url;
  }
}

TEST(Webhook, NeedsASecretAndAUrlOfItsOwn) {
  EXPECT_THAT(errors_of("[[api.webhook]]\nurl = \"https://a/\"\n"), ElementsAre(HasSubstr("secret_file")));
  EXPECT_THAT(errors_of("[[api.webhook]]\nurl = \"https://a/\"\nsecret_file = \"/s\"\n"
                        "[[api.webhook]]\nurl = \"https://a/\"\nsecret_file = \"/s\"\n"),
              ElementsAre(HasSubstr("webhook[1].url")));
  EXPECT_THAT(errors_of("[[api.webhook]]\nurl = \"https://a/\"\nsecret_file = \"/s\"\nevents = [\"\", 3]\n"),
              testing::SizeIs(2));
}

}  // namespace
}  // namespace smd::config
