// SPDX-License-Identifier: Apache-2.0
#include "smd/api/service.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
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

  std::string trouble() {
    const std::scoped_lock lock(backend_.network_lock);
    return backend_.network_trouble;
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

TEST_F(ApiService, WarnsOfAListOfRevokedCertificatesThatEndsSoon) {
  const auto files = made_.files("ca", "server", 366L * 86'400);
  made_.revoke("ca", {}, -7200, -10);
  auto config = with(files);
  config.client_ca = files.ca;
  service_.start(config);
  EXPECT_TRUE(says("api.crl_expires"));
  EXPECT_TRUE(says("ca.pem: the list of revoked certificates (CRL) of CN=ca has ended on "));
  EXPECT_TRUE(says("api.on_network"));

  made_.revoke("ca", {}, -7200, 900);
  service_.reload(config);
  EXPECT_TRUE(says("api.crl_expires", 2)) << "the later one counts";
  EXPECT_TRUE(says("(in 0 days): all certificates of this issuer are refused from then on"));

  made_.revoke("ca", {}, -60, 3600);
  config.max_connections += 1;
  service_.reload(config);
  EXPECT_TRUE(says("api.on_network", 2));
  EXPECT_TRUE(says("api.crl_expires", 2));
}

/// Whatever else a reload changes.
TEST_F(ApiService, ACertificateThatCannotBeUsedTakesNothingFromTheNetwork) {
  auto config = with(made_.files("ca", "later", 366L * 86'400));
  service_.start(config);
  ASSERT_TRUE(says("api.on_network"));

  auto wrong = config;
  wrong.max_connections = config.max_connections + 1;
  wrong.cert += ".gone";
  service_.reload(wrong);

  EXPECT_TRUE(says("api.certificate_refused"));
  EXPECT_TRUE(says("the one before stays in use"));
  EXPECT_EQ(lines_.count("api.network_closed"), 0U);
  wrong.cert = config.cert;
  service_.reload(wrong);
  EXPECT_TRUE(says("api.on_network", 2)) << "with the new limit";
  EXPECT_TRUE(says("api.network_closed"));
}

TEST_F(ApiService, StatusSaysThatACertificateKeepsItOffTheNetwork) {
  auto config = with(made_.files("ca", "later", 366L * 86'400));
  const auto good = config.cert;
  config.cert += ".gone";
  service_.start(config);
  ASSERT_TRUE(says("api.certificate_refused"));
  for (int i = 0; i < 5000 && trouble().empty(); ++i) std::this_thread::sleep_for(1ms);
  EXPECT_NE(trouble().find(".gone: No such file or directory"), std::string::npos) << trouble();

  config.cert = good;
  service_.reload(config);

  EXPECT_TRUE(says("api.on_network"));
  EXPECT_EQ(trouble(), "");
}

/// As those of an ACME client do.
TEST_F(ApiService, ACertificateThatComesAfterTheStartIsTaken) {
  auto config = with(made_.files("ca", "later", 366L * 86'400));
  const auto good = config.cert;
  config.cert += ".soon";
  service_.start(config);
  ASSERT_TRUE(says("api.certificate_refused"));
  EXPECT_TRUE(says("read again after 1 to 60 s"));

  std::filesystem::copy_file(good, config.cert);

  EXPECT_TRUE(says("api.on_network"));
  EXPECT_EQ(lines_.count("api.certificate_refused"), 1U);
  EXPECT_EQ(trouble(), "");
}

/// An address may come later: with a link, a lease, a failover, or because another program gives it back.
TEST_F(ApiService, AnAddressThatCannotBeHadIsTriedAgain) {
  asio::io_context io;
  std::optional<asio::ip::tcp::acceptor> in_the_way(
      std::in_place, io, asio::ip::tcp::endpoint(asio::ip::make_address("127.0.0.1"), 0));
  auto config = with(made_.files("ca", "later", 366L * 86'400));
  config.listen = "127.0.0.1:" + std::to_string(in_the_way->local_endpoint().port());
  service_.start(config);
  ASSERT_TRUE(says("api.not_on_network"));
  EXPECT_NE(trouble(), "");

  in_the_way.reset();

  EXPECT_TRUE(says("api.on_network"));
  EXPECT_TRUE(says("api.not_on_network")) << "once";
  EXPECT_EQ(trouble(), "");
}

TEST_F(ApiService, WhatListensGoesOnUntilTheNextAddressCanBeHad) {
  asio::io_context io;
  std::optional<asio::ip::tcp::acceptor> in_the_way(
      std::in_place, io, asio::ip::tcp::endpoint(asio::ip::make_address("127.0.0.1"), 0));
  auto config = with(made_.files("ca", "later", 366L * 86'400));
  service_.start(config);
  ASSERT_TRUE(says("api.on_network"));
  config.listen = "127.0.0.1:" + std::to_string(in_the_way->local_endpoint().port());
  service_.reload(config);
  ASSERT_TRUE(says("api.not_on_network"));
  EXPECT_EQ(lines_.count("api.network_closed"), 0U);

  in_the_way.reset();

  EXPECT_TRUE(says("api.network_closed"));
  EXPECT_TRUE(says("api.on_network", 2));
}

}  // namespace
}  // namespace smd::api
