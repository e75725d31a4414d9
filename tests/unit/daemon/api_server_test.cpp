// SPDX-License-Identifier: Apache-2.0
// The socket itself: who may have it, and clients that do not behave.
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "mad/real_clock.h"
#include "smd/api/client.h"
#include "smd/api/json_in.h"
#include "smd/api/server.h"
#include "tests/support/api_backend.h"

namespace smd::api {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ApiServer : public testing::Test {
 protected:
  ApiServer() {
    std::string made = (std::filesystem::temp_directory_path() / "smd-api-XXXXXX").string();
    folder_ = ::mkdtemp(made.data());
    path_ = folder_ / "smd.sock";
    backend_.add({.name = "a", .port = "mlx5_0:1"});
  }
  ~ApiServer() override {
    stop();
    std::filesystem::remove_all(folder_);
  }
  void start(ServerLimits limits = {}) {
    server_ = std::make_unique<Server>(io_, clock_, compute_, backend_, limits);
    auto acceptor = listen_at(io_, path_);
    ASSERT_TRUE(acceptor) << acceptor.error();
    server_->start(std::move(*acceptor), path_);
    thread_ = std::jthread([this] { io_.run(); });
  }
  void stop() {
    if (!thread_.joinable()) return;
    asio::post(io_, [this] { asio::co_spawn(io_, server_->stop(), [](const std::exception_ptr&) {}); });
    thread_.join();
  }
  Protocol::socket connect() {
    Protocol::socket socket(client_io_);
    socket.connect(Protocol::endpoint(path_.string()));
    return socket;
  }
  /// A client that asks for more than a socket's buffers hold, and reads nothing.
  Protocol::socket stuck() {
    auto socket = connect();
    socket.non_blocking(true);
    const std::string one = "GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n";
    error_code error;
    // The server reads the next request only after it has sent the answer before.
    for (int ms = 0; ms < kFullAfter && !error;) {
      socket.write_some(asio::buffer(one), error);
      if (error != asio::error::would_block) continue;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ++ms;
      error = {};
    }
    return socket;
  }
  static bool is_closed(Protocol::socket& socket) {
    pollfd poll{.fd = socket.native_handle(), .events = 0, .revents = 0};
    return ::poll(&poll, 1, 0) > 0 && (poll.revents & POLLHUP) != 0;
  }
  /// Whether a new client has its answer in time. It stays until the server has closed: its place is free
  /// then.
  bool answers_in_time() {
    auto socket = connect();
    const timeval limit{.tv_sec = 5, .tv_usec = 0};
    ::setsockopt(socket.native_handle(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    asio::write(socket,
                asio::buffer(std::string("GET /v1/log HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")));
    std::array<char, 4096> text{};
    ssize_t all = 0;
    for (;;) {
      const auto now = ::read(socket.native_handle(), text.data(), text.size());
      if (now <= 0) return now == 0 && all > 0;
      all += now;
    }
  }
  /// All that comes until the other side closes.
  static std::string rest(Protocol::socket& socket) {
    std::string text;
    error_code error;
    asio::read(socket, asio::dynamic_buffer(text), error);
    return text;
  }

  static constexpr int kFullAfter = 250;  ///< ms without room in the buffers
  std::filesystem::path folder_, path_;
  test::FakeBackend backend_;
  sm::InlineCompute compute_;
  asio::io_context io_, client_io_;
  mad::RealClock clock_{io_};
  std::unique_ptr<Server> server_;
  std::jthread thread_;
};

TEST_F(ApiServer, AnswersAndTakesItsSocketAway) {
  start();
  struct stat status{};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0660U);
  const auto reply = ask(path_, "GET", "/v1/status");
  ASSERT_TRUE(reply) << reply.error().text;
  EXPECT_EQ(reply->status, 200U);
  EXPECT_THAT(reply->body, HasSubstr("\"subnet\":\"a\""));

  stop();
  EXPECT_FALSE(std::filesystem::exists(path_));
  const auto nobody = ask(path_, "GET", "/v1/status");
  ASSERT_FALSE(nobody);
  EXPECT_TRUE(nobody.error().no_daemon);
  EXPECT_EQ(nobody.error().text, "no daemon at " + path_.string());
}

TEST_F(ApiServer, ASocketOfADeadDaemonIsReplacedAndOneOfALiveDaemonIsNot) {
  {
    Protocol::acceptor dead(client_io_, Protocol::endpoint(path_.string()));
  }
  ASSERT_TRUE(std::filesystem::exists(path_));
  start();

  const auto second = listen_at(client_io_, path_);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error(), HasSubstr("another smd answers there"));
  EXPECT_TRUE(ask(path_, "GET", "/v1/status"));
}

TEST_F(ApiServer, AUserWithoutRightsIsToldWhoMayAsk) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  start();
  ASSERT_EQ(::chmod(folder_.c_str(), 0755), 0);
  ASSERT_EQ(::chown(path_.c_str(), 0, 54321), 0);
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const auto child = ::fork();
  if (child == 0) {
    const bool other = ::setgroups(0, nullptr) == 0 && ::setgid(65534) == 0 && ::setuid(65534) == 0;
    const auto reply = other ? ask(path_, "GET", "/v1/status") : std::unexpected(ClientError{});
    const auto text = reply ? std::string("answered") : reply.error().text;
    ::_exit(::write(pipe[1], text.data(), text.size()) < 0 ? 1 : 0);
  }
  ::close(pipe[1]);
  std::array<char, 512> said{};
  const auto bytes = ::read(pipe[0], said.data(), said.size());
  ::close(pipe[0]);
  ::waitpid(child, nullptr, 0);

  ASSERT_GT(bytes, 0);
  EXPECT_EQ(std::string(said.data(), static_cast<std::size_t>(bytes)),
            path_.string() + ": Permission denied: root and members of group 54321 may ask");
}

TEST_F(ApiServer, AFileThatIsNoSocketStays) {
  std::ofstream(path_) << "precious";

  const auto refused = listen_at(client_io_, path_);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error(), HasSubstr("no socket"));
  EXPECT_EQ(std::filesystem::file_size(path_), 8U);
  EXPECT_THAT(listen_at(client_io_, folder_ / std::string(200, 'x')).error(), HasSubstr("107 bytes"));
}

TEST_F(ApiServer, SeveralRequestsGoOverOneConnection) {
  start();
  auto socket = connect();
  const std::string two =
      "GET /v1/log HTTP/1.1\r\nHost: x\r\n\r\nGET /v1/log HTTP/1.1\r\nHost: x\r\n"
      "Connection: close\r\n\r\n";
  asio::write(socket, asio::buffer(two));

  const auto text = rest(socket);
  EXPECT_EQ(text.find("HTTP/1.1 200"), 0U);
  EXPECT_NE(text.rfind("HTTP/1.1 200"), 0U);
}

/// A list that is longer than a piece: chunks on a connection that stays, or all until the end of it.
TEST_F(ApiServer, ALongListComesInChunks) {
  auto registry = std::make_shared<sa::Registry>();
  for (unsigned i = 0; i < 4000; ++i)
    registry->put_group({{0xff, 0x12, static_cast<std::uint8_t>(i >> 8U), static_cast<std::uint8_t>(i)}},
                        Lid{0xC001}, {}, false);
  backend_.add({.name = "g", .port = "p", .registry = registry});
  start();
  const auto answer = ask(path_, "GET", "/v1/subnets/g/groups");
  ASSERT_TRUE(answer) << answer.error().text;
  const auto value = parse_json(answer->body);
  ASSERT_TRUE(value);
  EXPECT_EQ(value->at("groups").as_array().size(), 4000U);

  auto socket = connect();
  const std::string list = "GET /v1/subnets/g/groups HTTP/1.1\r\nHost: x\r\n\r\n";
  asio::write(socket, asio::buffer(list + "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
  const auto both = rest(socket);
  EXPECT_THAT(both, HasSubstr("Transfer-Encoding: chunked"));
  EXPECT_THAT(both, HasSubstr("\r\n0\r\n\r\nHTTP/1.1 200 OK"));

  auto old = connect();
  asio::write(old, asio::buffer(std::string("GET /v1/subnets/g/groups HTTP/1.0\r\n\r\n")));
  const auto plain = rest(old);
  EXPECT_EQ(plain.find("chunked"), std::string::npos);
  EXPECT_THAT(plain, testing::EndsWith("\"next\":null}\n"));
  auto bare = connect();
  asio::write(bare, asio::buffer(std::string(
                        "HEAD /v1/subnets/g/groups HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")));
  EXPECT_THAT(rest(bare), testing::EndsWith("\r\n\r\n"));
}

TEST_F(ApiServer, GarbageAndTooMuchAreRefusedAndTheServerGoesOn) {
  start({.header = 1024, .body = 100});
  const auto tell = [&](const std::string& bytes) {
    auto socket = connect();
    error_code ignored;
    asio::write(socket, asio::buffer(bytes), ignored);
    socket.shutdown(Protocol::socket::shutdown_send, ignored);
    return rest(socket);
  };

  EXPECT_THAT(tell("\x01\x02 garbage\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(tell("GET /" + std::string(5000, 'x') + " HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 431"));
  EXPECT_THAT(tell("PUT /v1/log HTTP/1.1\r\nHost: x\r\nContent-Length: 200\r\n\r\n"),
              StartsWith("HTTP/1.1 413"));
  EXPECT_EQ(tell("GET /v1/st"), "");
  EXPECT_EQ(tell(""), "");
  EXPECT_TRUE(ask(path_, "GET", "/v1/status"));
}

/// The parser counts the bytes of one piece: those of all pieces count.
TEST_F(ApiServer, AHeaderOfManyFieldsIsTooLargeAsWell) {
  start();
  const auto tell = [&](std::size_t bytes) {
    std::string text = "PUT /v1/log HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 16\r\n";
    while (text.size() < bytes) text += "X-Field: " + std::string(90, 'a') + "\r\n";
    auto socket = connect();
    error_code ignored;
    asio::write(socket, asio::buffer(text + "\r\n" + R"({"level":"info"})"), ignored);
    return rest(socket);
  };

  EXPECT_THAT(tell(15'000), StartsWith("HTTP/1.1 200")) << "and the body is not a part of it";
  EXPECT_THAT(tell(17'000), StartsWith("HTTP/1.1 431"));
  EXPECT_THAT(tell(30'000), StartsWith("HTTP/1.1 431"));
}

/// Its bytes would be taken for the next request.
TEST_F(ApiServer, ABodyInAnotherTransferCodingIsRefused) {
  start();
  for (const auto* coding : {"gzip", "xchunked", "identity"}) {
    auto socket = connect();
    asio::write(socket, asio::buffer(
                            fmt::format("POST /v1/reload HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: {}\r\n\r\n"
                                        "GET /v1/log HTTP/1.1\r\nConnection: close\r\n\r\n",
                                        coding)));
    const auto text = rest(socket);
    EXPECT_EQ(text.find("HTTP/1.1 501 "), 0U) << coding << ": " << text;
    EXPECT_EQ(text.rfind("HTTP/1.1 "), 0U) << "one answer: " << text;
  }
}

/// RFC 9112, 3.2.
TEST_F(ApiServer, ARequestOfHttp11HasOneHost) {
  start();
  const auto tell = [&](const std::string& request) {
    auto socket = connect();
    asio::write(socket, asio::buffer(request + "\r\n"));
    return rest(socket);
  };
  const std::string get = "GET /v1/log HTTP/1.1\r\nConnection: close\r\n";

  for (const auto* wrong : {"", "Host: a\r\nHost: a\r\n", "Content-Length: 5\r\n"}) {
    const auto text = tell(get + wrong);
    EXPECT_THAT(text, StartsWith("HTTP/1.1 400")) << wrong;
    EXPECT_THAT(text, HasSubstr("bad_host")) << wrong;
  }
  EXPECT_THAT(tell("GET http://x/v1/log HTTP/1.1\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(tell("GET /v1/log HTTP/1.0\r\nHost: a\r\nHost: b\r\n"), StartsWith("HTTP/1.1 400"));
  for (const auto* right : {"Host: smd\r\n", "Host:\r\n", "host: [::1]:8443\r\n"})
    EXPECT_THAT(tell(get + right), StartsWith("HTTP/1.1 200")) << right;
  EXPECT_THAT(tell("GET /v1/log HTTP/1.0\r\n"), StartsWith("HTTP/1.0 200"));
}

TEST_F(ApiServer, AClientThatWaitsForItIsToldToGoOn) {
  start();
  auto socket = connect();
  asio::write(socket, asio::buffer(std::string(
                          "PUT /v1/log HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nConnection: "
                          "close\r\nContent-Length: 16\r\n\r\n")));
  std::string told(25, ' ');
  asio::read(socket, asio::buffer(told));
  EXPECT_EQ(told, "HTTP/1.1 100 Continue\r\n\r\n");
  asio::write(socket, asio::buffer(std::string(R"({"level":"info"})")));
  EXPECT_EQ(rest(socket).find("HTTP/1.1 200 "), 0U);
}

TEST_F(ApiServer, WhoSaysNothingIsSentAway) {
  start({.request = std::chrono::milliseconds(50)});
  auto socket = connect();
  asio::write(socket, asio::buffer(std::string("GET /v1")));

  EXPECT_EQ(rest(socket), "");
}

TEST_F(ApiServer, WhereAllPlacesAreTakenTheLongestIdleGivesWay) {
  start({.connections = 2});
  auto first = connect();
  auto second = connect();
  const auto reply = ask(path_, "GET", "/v1/status");

  EXPECT_TRUE(reply);
  EXPECT_EQ(rest(first), "");
}

TEST_F(ApiServer, WhereNoClientReadsTheOneStuckLongestGivesWay) {
  start({.connections = 3, .piece = std::chrono::hours(1)});
  std::vector<Protocol::socket> clients;
  while (clients.size() < 3) clients.push_back(stuck());

  EXPECT_TRUE(answers_in_time());
  EXPECT_TRUE(answers_in_time()) << "the place that one gave up is free again";
  EXPECT_TRUE(is_closed(clients[0]));
  EXPECT_FALSE(is_closed(clients[1])) << "one has given way, not all";
  EXPECT_FALSE(is_closed(clients[2]));
}

/// Reads until `text` has come.
std::string read_until(Protocol::socket& socket, const std::string& text) {
  const timeval limit{.tv_sec = 10, .tv_usec = 0};
  ::setsockopt(socket.native_handle(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  std::string all;
  std::array<char, 4096> piece{};
  while (all.find(text) == std::string::npos) {
    const auto bytes = ::read(socket.native_handle(), piece.data(), piece.size());
    if (bytes <= 0) return all + "(end)";
    all.append(piece.data(), static_cast<std::size_t>(bytes));
  }
  return all;
}

const std::string kFollow =
    "GET /v1/subnets/a/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n";

TEST_F(ApiServer, AStreamGetsEventsAsTheyCome) {
  start();
  auto socket = connect();
  asio::write(socket, asio::buffer(kFollow));
  const auto header = read_until(socket, "retry: 2000\n\n");
  EXPECT_THAT(header, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(header, HasSubstr("Content-Type: text/event-stream\r\n"));
  EXPECT_THAT(header, testing::Not(HasSubstr("Content-Length")));
  for (const auto* name : {"link.down", "link.up"}) {
    backend_.ring.publish("a", events::log_event_of({.event = name, .subnet = "a"}));
    EXPECT_THAT(read_until(socket, "}\n\n"), HasSubstr(std::string("event: ") + name));
  }
  EXPECT_TRUE(ask(path_, "GET", "/v1/status")) << "others are served meanwhile";
  std::string followed;
  const auto reply =
      follow(path_, "/v1/events", {}, [&](std::string_view piece) -> std::expected<void, std::string> {
        // The first piece comes when the stream has its place in the events.
        if (followed.empty())
          backend_.ring.publish("a", events::log_event_of({.event = "node.new", .subnet = "a"}));
        followed += piece;
        if (followed.find("node.new") == std::string::npos) return {};
        return std::unexpected(std::string("enough"));
      });
  EXPECT_EQ(reply.error().text, "enough");
  read_until(socket, "node.new");
  stop();
  EXPECT_EQ(rest(socket).find("HTTP"), std::string::npos) << "it ends with the server";
}

TEST_F(ApiServer, StreamsLeaveHalfOfThePlacesToOthers) {
  start({.connections = 4});
  std::vector<Protocol::socket> followers;
  for (int i = 0; i < 2; ++i) {
    auto& socket = followers.emplace_back(connect());
    asio::write(socket, asio::buffer(kFollow));
    EXPECT_THAT(read_until(socket, "retry"), StartsWith("HTTP/1.1 200"));
  }
  auto third = connect();
  asio::write(third, asio::buffer(kFollow));
  EXPECT_THAT(read_until(third, "too_many_streams"), StartsWith("HTTP/1.1 503"));
  EXPECT_TRUE(ask(path_, "GET", "/v1/status"));
  followers.clear();
  // The server finds out when it writes.
  for (int i = 0; i < 400; ++i) {
    backend_.ring.publish("a", events::log_event_of({.event = "link.up", .subnet = "a"}));
    auto again = connect();
    asio::write(again, asio::buffer(kFollow));
    if (read_until(again, "\r\n\r\n").starts_with("HTTP/1.1 200")) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  FAIL() << "a stream that is gone keeps its place";
}

TEST_F(ApiServer, AFollowerThatDoesNotReadIsCut) {
  start({.piece = std::chrono::milliseconds(100)});
  auto socket = connect();
  asio::write(socket, asio::buffer(kFollow));
  read_until(socket, "retry: 2000\n\n");
  const std::string much(10'000, 'x');
  for (int i = 0; i < 1000 && !is_closed(socket); ++i) {
    backend_.ring.publish(
        "a", events::log_event_of({.event = "link.up", .subnet = "a", .fields = {{"x", much, false}}}));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_TRUE(is_closed(socket));
}

}  // namespace
}  // namespace smd::api
