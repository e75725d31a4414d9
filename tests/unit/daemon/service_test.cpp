// SPDX-License-Identifier: Apache-2.0
#include "smd/api/service.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "smd/base/compute.h"
#include "tests/support/api_backend.h"
#include "tests/support/certificates.h"
#include "tests/support/store_lab.h"

namespace smd::api {
namespace {

using namespace std::chrono_literals;

class ApiService : public testing::Test {
 protected:
  ~ApiService() override { service_.stop(); }
  static config::ApiConfig with(const tls::Files& files) {
    config::ApiConfig config;
    config.listen = "127.0.0.1:0";
    config.cert = files.cert, config.key = files.key;
    return config;
  }
  /// Whether so many lines with `what` come in time.
  bool says(const std::string& what, std::size_t times = 1) const {
    for (int i = 0; i < 5000 && lines_.count(what) < times; ++i) std::this_thread::sleep_for(1ms);
    return lines_.count(what) == times;
  }

  test::Certificates made_;
  test::KeptLines lines_;
  test::FakeBackend backend_;
  sm::InlineCompute compute_;
  Service service_{backend_, compute_, lines_.log};
};

TEST_F(ApiService, WarnsOfACertificateThatEndsSoonAtTheStartAndAtEachReload) {
  const auto soon = made_.files("ca", "soon", 5L * 86'400), later = made_.files("ca", "later", 366L * 86'400);

  service_.start(with(soon));
  EXPECT_TRUE(says("api.on_network"));
  EXPECT_TRUE(says("api.certificate_expires"));
  EXPECT_TRUE(says("soon.pem: it expires on "));
  service_.reload(with(soon));
  EXPECT_TRUE(says("api.certificate_expires", 2));

  service_.reload(with(later));
  auto gone = with(later);
  gone.cert += ".gone";
  service_.reload(gone);
  EXPECT_TRUE(says("api.certificate_refused"));
  EXPECT_TRUE(says(".gone: No such file or directory"));
  EXPECT_TRUE(says("api.certificate_expires", 2));
}

}  // namespace
}  // namespace smd::api
