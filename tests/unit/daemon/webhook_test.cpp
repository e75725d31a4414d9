// SPDX-License-Identifier: Apache-2.0
// Events posted to a receiver that is slow, wrong, or away for a while.
#include "smd/api/webhook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <deque>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "mad/real_clock.h"
#include "smd/api/json_in.h"
#include "tests/support/api_backend.h"
#include "tests/support/store_lab.h"

namespace smd::api {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kSecret = "0123456789abcdef";

/// A receiver on this machine that answers with the statuses that a test gives it, then with 200; 0 closes.
class Receiver {
 public:
  explicit Receiver(std::deque<int> statuses = {}) : statuses_(std::move(statuses)) {
    thread_ = std::thread([this] { serve(); });
  }
  ~Receiver() {
    over_ = true;
    tcp::socket last(io_);
    error_code ignored;
    last.connect(end(), ignored);
    thread_.join();
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/hook?x=1"; }
  std::vector<std::string> wait_for(std::size_t count) {
    for (int i = 0; i < 5000; ++i) {
      {
        const std::scoped_lock lock(mutex_);
        if (got_.size() >= count) return got_;
      }
      std::this_thread::sleep_for(1ms);
    }
    ADD_FAILURE() << "not " << count << " requests";
    return {};
  }

 private:
  using tcp = asio::ip::tcp;
  tcp::endpoint end() const { return {asio::ip::address_v4::loopback(), port_}; }
  void serve() {
    while (!over_) {
      tcp::socket client(io_);
      error_code error;
      acceptor_.accept(client, error);
      if (error || over_) return;
      std::string request;
      const auto head = asio::read_until(client, asio::dynamic_buffer(request), "\r\n\r\n", error);
      if (error) continue;
      const auto at = request.find("Content-Length: ");
      const auto length = std::stoul(request.substr(at + 16));
      while (request.size() < head + length && !error)
        asio::read(client, asio::dynamic_buffer(request), asio::transfer_at_least(1), error);
      int status = 200;
      {
        const std::scoped_lock lock(mutex_);
        got_.push_back(request);
        if (!statuses_.empty()) status = statuses_.front(), statuses_.pop_front();
      }
      if (status == 0) continue;
      asio::write(client,
                  asio::buffer("HTTP/1.1 " + std::to_string(status) + " x\r\nContent-Length: 0\r\n\r\n"),
                  error);
    }
  }

  asio::io_context io_;
  tcp::acceptor acceptor_{io_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
  std::uint16_t port_ = acceptor_.local_endpoint().port();
  std::mutex mutex_;
  std::deque<int> statuses_;
  std::vector<std::string> got_;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

class Webhooks : public testing::Test {
 protected:
  Webhooks() { std::ofstream(secret_file_) << kSecret << '\n'; }
  ~Webhooks() override { stop(); }
  bool start(config::WebhookConfig config) {
    if (config.secret_file.empty()) config.secret_file = secret_file_;
    hook_ = std::make_unique<Webhook>(
        io_, clock_, compute_, backend_, lines_.log, std::move(config),
        WebhookTimes{.look = 1ms, .patience = 2s, .first_retry = 5ms, .last_retry = 20ms, .steady = 1ms});
    const bool good = hook_->start();
    thread_ = std::thread([this] { io_.run(); });
    return good;
  }
  void stop() {
    if (!thread_.joinable()) return;
    asio::post(io_, [this] { asio::co_spawn(io_, hook_->stop(), [](const std::exception_ptr&) {}); });
    thread_.join();
    io_.restart();
  }
  void publish(const std::string& name, const std::string& value = "x") {
    backend_.ring.publish(
        "a", events::log_event_of({.event = name, .subnet = "a", .fields = {{"key", value, false}}}));
  }
  /// Until the webhook knows where it begins.
  void begun(const std::string& url) {
    for (int i = 0; i < 5000 && !backend_.kept_events.position(url); ++i) std::this_thread::sleep_for(1ms);
  }
  static std::string header(const std::string& request, const std::string& name) {
    const auto at = request.find("\r\n" + name + ": ");
    if (at == std::string::npos) return {};
    const auto from = at + name.size() + 4;
    return request.substr(from, request.find('\r', from) - from);
  }
  static std::string body(const std::string& request) { return request.substr(request.find("\r\n\r\n") + 4); }

  test::TemporaryFolder folder_;
  std::string secret_file_ = (folder_.path() / "secret").string();
  test::KeptLines lines_;
  test::FakeBackend backend_;
  sm::InlineCompute compute_;
  asio::io_context io_;
  mad::RealClock clock_{io_};
  std::unique_ptr<Webhook> hook_;
  std::thread thread_;
};

TEST_F(Webhooks, EventsArePostedInOrderAndSigned) {
  Receiver receiver;
  publish("link.up");  // before the receiver was known
  ASSERT_TRUE(start({.url = receiver.url(), .events = {"link.*", "node.gone"}}));
  begun(receiver.url());
  publish("link.down", "\"<b>\n\x1b\xff");
  publish("sweep");
  const auto first = receiver.wait_for(1).at(0);
  publish("node.gone");
  const auto second = receiver.wait_for(2).at(1);

  EXPECT_THAT(first, StartsWith("POST /hook?x=1 HTTP/1.1\r\n"));
  EXPECT_EQ(header(first, "Content-Type"), "application/json");
  EXPECT_EQ(header(first, "X-SMD-Signature"),
            webhook_signature(kSecret, header(first, "X-SMD-Timestamp"), body(first)));
  const auto value = parse_json(body(first));
  ASSERT_TRUE(value) << body(first);
  ASSERT_EQ(value->at("events").as_array().size(), 1U);
  EXPECT_EQ(value->at("events").at(0).at("event"), "link.down");
  EXPECT_EQ(value->at("events").at(0).at("id"), boost::json::string(header(first, "X-SMD-Delivery")));
  EXPECT_EQ(parse_json(body(second))->at("events").at(0).at("event"), "node.gone");
}

TEST_F(Webhooks, TheSignatureIsThatOfTheDocuments) {
  EXPECT_EQ(webhook_signature(kSecret, "1700000000", R"({"events":[]})"),
            "sha256=1f1c43683e76ee83b09613ab56fa5bdd3ce55f3ee41db00a92e22eea0376899e");
}

TEST_F(Webhooks, WhatIsRefusedIsSentAgainUntilItIsTaken) {
  Receiver receiver({500, 0, 404});
  ASSERT_TRUE(start({.url = receiver.url()}));
  begun(receiver.url());
  publish("link.down");
  const auto got = receiver.wait_for(4);
  for (const auto& request : got)
    EXPECT_EQ(header(request, "X-SMD-Delivery"), header(got[0], "X-SMD-Delivery"));
  publish("link.up");
  const auto later = receiver.wait_for(5).at(4);
  EXPECT_EQ(parse_json(body(later))->at("events").at(0).at("event"), "link.up") << "and nothing twice";
  stop();
  EXPECT_EQ(lines_.count("api.webhook_failed"), 1U);
  EXPECT_EQ(lines_.count("api.webhook_works_again"), 1U);
}

TEST_F(Webhooks, ADeadReceiverCostsALineAndGetsAllLater) {
  std::string url;
  {
    Receiver gone;
    url = gone.url();
  }
  ASSERT_TRUE(start({.url = url}));
  begun(url);
  for (int i = 0; i < 3; ++i) publish("link.down");
  for (int i = 0; i < 5000 && lines_.count("api.webhook_failed") == 0; ++i) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(50ms);
  stop();
  EXPECT_EQ(lines_.count("api.webhook_failed"), 1U);

  Receiver receiver;  // elsewhere, with the position of the one before
  backend_.kept_events.set_position(receiver.url(), *backend_.kept_events.position(url));
  ASSERT_TRUE(start({.url = receiver.url()}));
  EXPECT_EQ(parse_json(body(receiver.wait_for(1).at(0)))->at("events").as_array().size(), 3U);
}

/// Those that follow the gap at once are not for this receiver.
TEST_F(Webhooks, AGapIsSaidWithTheNextEventThatIsWanted) {
  Receiver receiver;
  publish("sweep");
  const events::EventId lost{.epoch = 7, .number = 1};
  backend_.kept_events.set_position(receiver.url(), lost);
  ASSERT_TRUE(start({.url = receiver.url(), .events = {"node.gone"}}));
  std::this_thread::sleep_for(50ms);  // it has looked at what is there
  EXPECT_EQ(backend_.kept_events.position(receiver.url()), lost) << "which a restart has to find again";
  publish("node.gone");
  publish("sweep");
  const auto first = parse_json(body(receiver.wait_for(1).at(0)));
  publish("node.gone");
  const auto second = parse_json(body(receiver.wait_for(2).at(1)));

  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->at("gap"), true);
  EXPECT_EQ(second->at("gap"), false) << "it was said";
}

/// Else a restart would find a position that is not kept any more, and say that something is missing.
TEST_F(Webhooks, APositionFollowsEventsThatAreNotWanted) {
  const std::string url = "http://127.0.0.1:1/";
  ASSERT_TRUE(start({.url = url, .events = {"node.gone"}}));
  begun(url);
  const auto begin = backend_.kept_events.position(url);
  for (int i = 0; i < 10'001; ++i) publish("sweep");
  for (int i = 0; i < 5000 && backend_.kept_events.position(url) == begin; ++i)
    std::this_thread::sleep_for(1ms);

  EXPECT_GT(backend_.kept_events.position(url), begin);
}

TEST_F(Webhooks, WithoutAGoodSecretNothingIsSent) {
  std::ofstream(folder_.path() / "short") << "abc\n";
  EXPECT_FALSE(start({.url = "http://127.0.0.1:1/", .secret_file = (folder_.path() / "short").string()}));
  stop();
  EXPECT_FALSE(start({.url = "http://127.0.0.1:1/", .secret_file = (folder_.path() / "none").string()}));
  stop();
  EXPECT_FALSE(start({.url = "https://127.0.0.1:1/", .ca_file = (folder_.path() / "none").string()}));
  EXPECT_EQ(lines_.count("api.webhook_refused"), 3U);
}

TEST_F(Webhooks, AddressesAreTakenApart) {
  const auto plain = parse_web_address("https://a.example");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->host + " " + plain->port + " " + plain->target, "a.example 443 /");
  const auto six = parse_web_address("http://[fd00::1]:8080/x?y=1");
  ASSERT_TRUE(six);
  EXPECT_EQ(six->host + " " + six->port + " " + six->target + " " + six->shown,
            "fd00::1 8080 /x?y=1 [fd00::1]:8080");
  EXPECT_EQ(parse_web_address("http://[fd00::1]/")->port, "80");
  for (const auto* bad : {"", "ftp://a/", "https://", "http:///x", "http://a:/"})
    EXPECT_FALSE(parse_web_address(bad)) << bad;
}

}  // namespace
}  // namespace smd::api
