// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "smd/etcd/http_client.h"

namespace smd::etcd {
namespace {

TEST(EtcdEndpoint, IsAnHttpsUrlWithAPort) {
  EXPECT_EQ(endpoint_of("https://etcd1.example:2379"),
            (Endpoint{.host = "etcd1.example", .port = "2379", .shown = "etcd1.example:2379"}));
  EXPECT_EQ(endpoint_of("https://[2001:db8::1]:2379/"),
            (Endpoint{.host = "2001:db8::1", .port = "2379", .shown = "[2001:db8::1]:2379"}));
  for (const auto* wrong : {"", "https://", "https://a", "http://a:1", "a:1", "https://a:", "https://:1",
                            "https://a:1x", "https://a:1/b", "https://2001:db8::1:2379", "https://a:65536"})
    EXPECT_FALSE(endpoint_of(wrong)) << wrong;
}

}  // namespace
}  // namespace smd::etcd
