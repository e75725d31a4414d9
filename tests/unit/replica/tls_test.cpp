// SPDX-License-Identifier: Apache-2.0
// The network of the daemon, on loopback and in real time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "mad/real_clock.h"
#include "smd/replica/tls_network.h"
#include "smd/replica/turn_stream.h"
#include "tests/support/certificates.h"

namespace smd::replica {
namespace {

class ReplicaTls : public testing::Test {
 protected:
  /// What a client hears of a server that answers with what it gets; or why it hears nothing.
  std::string talk(const Credentials& server, const Credentials& client) {
    auto there = TlsNetwork::open(io_.get_executor(), clock_, "127.0.0.1:0", server);
    auto here = TlsNetwork::open(io_.get_executor(), clock_, "", client);
    if (!there || !here) return there ? here.error() : there.error();
    const auto heard = std::make_shared<std::optional<std::string>>();
    io_.restart();
    asio::co_spawn(io_, echo(there->get()), [](const std::exception_ptr&) {});
    asio::co_spawn(io_, ask(here->get(), (*there)->port(), heard), [](const std::exception_ptr&) {});
    const auto timer =
        clock_.call_at(clock_.now() + std::chrono::seconds(8), [heard] { *heard = "nothing in 8 s"; });
    while (!*heard) io_.run_one();
    clock_.cancel(timer);
    there->reset();
    io_.poll();
    return **heard;
  }
  static asio::awaitable<void> echo(TlsNetwork* network) {
    auto stream = co_await network->accept();
    if (!stream) co_return;
    auto bytes = co_await (*stream)->read();
    co_await (*stream)->write(std::make_shared<const std::vector<std::uint8_t>>(std::move(bytes)));
    co_await (*stream)->read();
  }
  static asio::awaitable<void> ask(TlsNetwork* network, std::uint16_t port,
                                   std::shared_ptr<std::optional<std::string>> heard) {
    auto stream = co_await network->connect("127.0.0.1:" + std::to_string(port));
    if (!stream) {
      *heard = "refused: " + stream.error();
      co_return;
    }
    co_await (*stream)->write(std::make_shared<const std::vector<std::uint8_t>>(3, 'x'));
    const auto bytes = co_await (*stream)->read();
    *heard = bytes.empty() ? "closed" : std::string(bytes.begin(), bytes.end());
  }

  asio::io_context io_;
  mad::RealClock clock_{io_};
  test::Certificates certificates_;
};

TEST_F(ReplicaTls, EndsWithCertificatesOfOneCaTalk) {
  const auto a = certificates_.files("ca", "a"), b = certificates_.files("ca", "b");
  EXPECT_EQ(talk({.files = a, .psk = {}}, {.files = b, .psk = {}}), "xxx");
}

TEST_F(ReplicaTls, ACertificateOfAnotherCaIsRefusedAtEitherEnd) {
  const auto good = certificates_.files("ca", "a");
  auto stranger = certificates_.files("other", "b");
  EXPECT_NE(talk({.files = good, .psk = {}}, {.files = stranger, .psk = {}}), "xxx");
  stranger.ca = good.ca;  // it knows the right CA, and has no certificate of it
  EXPECT_NE(talk({.files = good, .psk = {}}, {.files = stranger, .psk = {}}), "xxx");
  EXPECT_NE(talk({.files = stranger, .psk = {}}, {.files = good, .psk = {}}), "xxx");
}

TEST_F(ReplicaTls, ARevokedCertificateIsRefusedAtEitherEnd) {
  const auto a = certificates_.files("ca", "a"), b = certificates_.files("ca", "b");
  certificates_.revoke("ca", {});
  EXPECT_EQ(talk({.files = a, .psk = {}}, {.files = b, .psk = {}}), "xxx") << "none is revoked";
  const auto c = certificates_.files("other", "c"), d = certificates_.files("other", "d");
  certificates_.revoke("other", {"d"});
  EXPECT_NE(talk({.files = c, .psk = {}}, {.files = d, .psk = {}}), "xxx");
  EXPECT_NE(talk({.files = d, .psk = {}}, {.files = c, .psk = {}}), "xxx");
}

TEST_F(ReplicaTls, EndsWithOneKeyTalkAndOthersDoNot) {
  const std::vector<std::uint8_t> key(32, 7), other(32, 8);
  EXPECT_EQ(talk({.files = {}, .psk = key}, {.files = {}, .psk = key}), "xxx");
  EXPECT_NE(talk({.files = {}, .psk = key}, {.files = {}, .psk = other}), "xxx");
  const auto files = certificates_.files("ca", "a");
  EXPECT_NE(talk({.files = {}, .psk = key}, {.files = files, .psk = {}}), "xxx");
  EXPECT_NE(talk({.files = files, .psk = {}}, {.files = {}, .psk = key}), "xxx");
}

TEST_F(ReplicaTls, AFileThatIsMissingIsNamed) {
  const auto opened = TlsNetwork::open(io_.get_executor(), clock_, "",
                                       {.files = {.cert = "/none.pem", .key = "", .ca = ""}, .psk = {}});
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error(), testing::HasSubstr("/none.pem"));
}

using Heard = std::shared_ptr<std::optional<std::string>>;

/// Says "xxx" and ends the connection without reading.
asio::awaitable<void> say_and_reset(TlsNetwork* network) {
  auto stream = co_await network->accept();
  if (stream) co_await (*stream)->write(std::make_shared<const std::vector<std::uint8_t>>(3, 'x'));
}

asio::awaitable<void> write_until_refused(TlsNetwork* network, std::uint16_t port, mad::Clock* clock,
                                          Heard heard) {
  auto made = co_await network->connect("127.0.0.1:" + std::to_string(port));
  if (!made) {
    *heard = "refused: " + made.error();
    co_return;
  }
  TurnStream stream(std::move(*made), *clock, std::chrono::seconds(60));
  const auto byte = std::make_shared<const std::vector<std::uint8_t>>(1, 'y');
  bool sent = true;
  for (int i = 0; sent && i < 100; ++i) {
    co_await clock->sleep(std::chrono::milliseconds(10));
    sent = co_await stream.write(byte);
  }
  const bool again = co_await stream.write(byte);
  const auto bytes = co_await stream.read();
  stream.close();
  *heard = (sent || again ? "sent, " : "not sent, ") + std::string(bytes.begin(), bytes.end());
}

/// After a send that fails Asio waits for an event, and a connection that was reset has none any more.
TEST_F(ReplicaTls, AfterAWriteThatFailedTheNextFailsAtOnceAndWhatHasComeIsRead) {
  const std::vector<std::uint8_t> key(32, 7);
  const auto there = TlsNetwork::open(io_.get_executor(), clock_, "127.0.0.1:0", {.files = {}, .psk = key});
  const auto here = TlsNetwork::open(io_.get_executor(), clock_, "", {.files = {}, .psk = key});
  ASSERT_TRUE(there && here);
  const auto heard = std::make_shared<std::optional<std::string>>();
  asio::co_spawn(io_, say_and_reset(there->get()), [](const std::exception_ptr&) {});
  asio::co_spawn(io_, write_until_refused(here->get(), (*there)->port(), &clock_, heard),
                 [](const std::exception_ptr&) {});
  const auto timer =
      clock_.call_at(clock_.now() + std::chrono::seconds(8), [heard] { *heard = "nothing in 8 s"; });
  while (!*heard) io_.run_one();
  clock_.cancel(timer);

  EXPECT_EQ(**heard, "not sent, xxx");
}

}  // namespace
}  // namespace smd::replica
