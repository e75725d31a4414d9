// SPDX-License-Identifier: Apache-2.0
// The API on the network: TLS, certificates, and clients that do not behave.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/write.hpp>
#include <thread>

#include "mad/real_clock.h"
#include "smd/api/server.h"
#include "smd/api/tls_listener.h"
#include "smd/tls/self_signed.h"
#include "tests/support/api_backend.h"
#include "tests/support/certificates.h"
#include "tests/support/store_lab.h"

namespace smd::api {
namespace {

using asio::ip::tcp;
using testing::HasSubstr;
using testing::StartsWith;
using ClientStream = tls::ssl::stream<tcp::socket>;

constexpr const char* kSecret = "smd_00112233445566778899aabbccddeeff";

class ApiNetwork : public testing::Test {
 protected:
  ApiNetwork() {
    auto policy_state = std::make_shared<PolicyState>();
    auto policies = std::make_shared<policy::Policies>();
    policies->tokens["mon"] = {.role = access::Role::viewer, .hash = access::hash_of(kSecret)};
    policy_state->config = std::make_shared<const config::SubnetConfig>();
    policy_state->policies = policies;
    backend_.add({.name = "a", .port = "mlx5_0:1", .policy_state = policy_state});
  }
  ~ApiNetwork() override { stop(); }

  void start(const tls::Files& files, ServerLimits limits = {.connections = 100}, TlsLimits tls = {}) {
    const auto loaded = identity_->load(files);
    ASSERT_TRUE(loaded) << loaded.error();
    auto listener = TlsListener::open(io_, clock_, "127.0.0.1:0", identity_, lines_.log, tls);
    ASSERT_TRUE(listener) << listener.error();
    port_ = (*listener)->port();
    server_ = std::make_unique<Server>(io_, clock_, compute_, backend_, limits);
    server_->start(std::move(*listener));
    thread_ = std::jthread([this] { io_.run(); });
  }
  void stop() {
    if (!thread_.joinable()) return;
    asio::post(io_, [this] { asio::co_spawn(io_, server_->stop(), [](const std::exception_ptr&) {}); });
    thread_.join();
  }
  /// Does `work` on the server's thread.
  void there(std::function<void()> work) {
    std::promise<void> done;
    asio::post(io_, [&] { work(), done.set_value(); });
    done.get_future().wait();
  }
  /// A client that wants the server's certificate to be of `ca`.
  static tls::ssl::context context(const std::filesystem::path& ca) {
    tls::ssl::context context(tls::ssl::context::tls_client);
    context.load_verify_file(ca.string());
    context.set_verify_mode(tls::ssl::verify_peer);
    return context;
  }
  tcp::socket connect() {
    tcp::socket socket(client_io_);
    socket.connect(tcp::endpoint(asio::ip::address_v4::loopback(), port_));
    const timeval limit{.tv_sec = 5, .tv_usec = 0};
    ::setsockopt(socket.native_handle(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    return socket;
  }
  /// The whole answer to `bytes`, or why there was none.
  std::string talk(tls::ssl::context& context, const std::string& bytes) {
    ClientStream stream(connect(), context);
    error_code error;
    stream.handshake(tls::ssl::stream_base::client, error);
    if (!error) asio::write(stream, asio::buffer(bytes), error);
    std::string text;
    if (!error) asio::read(stream, asio::dynamic_buffer(text), error);
    return text.empty() ? "refused: " + error.message() : text;
  }
  static std::string get(const std::string& path, const std::string& more = {}) {
    return "GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + more + "\r\n";
  }
  static std::string with_token() { return "Authorization: Bearer " + std::string(kSecret) + "\r\n"; }

  /// Lines of the log about a client that shows this certificate, null: none, with this reason.
  std::size_t lines_about(const tls::Files& server, const std::filesystem::path& ca, const tls::Files* own,
                          const std::string& reason) {
    start(server);
    auto client = context(ca);
    if (own != nullptr) {
      client.use_certificate_file(own->cert.string(), tls::ssl::context::pem);
      client.use_private_key_file(own->key.string(), tls::ssl::context::pem);
    }
    EXPECT_THAT(talk(client, get("/healthz")), StartsWith("refused"));
    stop();
    return lines_.count("api.refused address=127.0.0.1 reason=\"" + reason);
  }

  test::KeptLines lines_;
  test::FakeBackend backend_;
  sm::InlineCompute compute_;
  asio::io_context io_, client_io_;
  mad::RealClock clock_{io_};
  test::Certificates certificates_;
  std::shared_ptr<TlsIdentity> identity_ = std::make_shared<TlsIdentity>();
  std::unique_ptr<Server> server_;
  std::uint16_t port_ = 0;
  std::jthread thread_;
};

tls::Files without_ca(tls::Files files) {
  files.ca.clear();
  return files;
}

TEST_F(ApiNetwork, AnswersThoseWhoHaveATokenAndTellsNothingToOthers) {
  const auto files = certificates_.files("ca", "server");
  start(without_ca(files));
  auto client = context(files.ca);

  EXPECT_THAT(talk(client, get("/v1/status", with_token())), HasSubstr("\"subnet\":\"a\""));
  EXPECT_THAT(talk(client, get("/healthz")), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(talk(client, get("/readyz")), StartsWith("HTTP/1.1 503"));
  for (const auto* path : {"/v1/status", "/v1/log", "/", "/v1/none", "/v1/subnets/a/tokens"}) {
    const auto refused = talk(client, get(path));
    EXPECT_THAT(refused, StartsWith("HTTP/1.1 401")) << path;
    EXPECT_THAT(refused, HasSubstr("WWW-Authenticate: Bearer")) << path;
  }
  EXPECT_EQ(backend_.used.size(), 1U);
}

TEST_F(ApiNetwork, WrongTokensMakeTheirAddressWait) {
  const auto files = certificates_.files("ca", "server");
  start(without_ca(files));
  auto client = context(files.ca);
  const auto wrong = get("/v1/status", "Authorization: Bearer smd_0\r\n");
  for (unsigned i = 0; i < access::Guard::kMost; ++i) {
    EXPECT_THAT(talk(client, wrong), StartsWith("HTTP/1.1 401"));
  }
  const auto waits = talk(client, get("/v1/status", with_token()));
  EXPECT_THAT(waits, StartsWith("HTTP/1.1 429")) << "a right one too: else it could be guessed";
  EXPECT_THAT(waits, HasSubstr("Retry-After: "));
  EXPECT_EQ(backend_.wrong_tokens, access::Guard::kMost);
}

TEST_F(ApiNetwork, SpeaksNoTlsBefore12) {
  const auto files = certificates_.files("ca", "server");
  start(without_ca(files));
  for (const auto& [version, good] : std::vector<std::pair<int, bool>>{
           {TLS1_VERSION, false}, {TLS1_1_VERSION, false}, {TLS1_2_VERSION, true}, {TLS1_3_VERSION, true}}) {
    auto client = context(files.ca);
    SSL_CTX_set_cipher_list(client.native_handle(), "ALL:@SECLEVEL=0");
    SSL_CTX_set_min_proto_version(client.native_handle(), version);
    SSL_CTX_set_max_proto_version(client.native_handle(), version);
    EXPECT_THAT(talk(client, get("/healthz")), StartsWith(good ? "HTTP/1.1 200" : "refused")) << version;
  }
  tls::ssl::context plain(tls::ssl::context::tls_client);
  auto socket = connect();
  error_code error;
  asio::write(socket, asio::buffer(get("/healthz")), error);
  std::string text;
  asio::read(socket, asio::dynamic_buffer(text), error);
  EXPECT_EQ(text.find("HTTP"), std::string::npos) << "without TLS";
}

TEST_F(ApiNetwork, RefusesToNegotiateAnew) {
  const auto files = certificates_.files("ca", "server");
  start(without_ca(files));
  auto client = context(files.ca);
  SSL_CTX_set_max_proto_version(client.native_handle(), TLS1_2_VERSION);
  ClientStream stream(connect(), client);
  stream.handshake(tls::ssl::stream_base::client);
  ASSERT_EQ(SSL_renegotiate(stream.native_handle()), 1);
  error_code error;
  std::string text;
  asio::write(stream, asio::buffer(get("/healthz")), error);
  if (!error) asio::read(stream, asio::dynamic_buffer(text), error);
  EXPECT_EQ(text.find("HTTP/1.1 200"), std::string::npos) << text;
}

TEST_F(ApiNetwork, WithAClientCaOnlyItsCertificatesMayCall) {
  const auto files = certificates_.files("ca", "server"), good = certificates_.files("clients", "good"),
             expired = certificates_.files("clients", "expired", -10),
             stranger = certificates_.files("strangers", "bad");
  auto server = files;
  server.ca = good.ca;
  start(server);
  const auto ask = [&](const tls::Files* own) {
    auto client = context(files.ca);
    if (own != nullptr) {
      client.use_certificate_file(own->cert.string(), tls::ssl::context::pem);
      client.use_private_key_file(own->key.string(), tls::ssl::context::pem);
    }
    return talk(client, get("/healthz"));
  };
  EXPECT_THAT(ask(&good), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(ask(nullptr), StartsWith("refused"));
  EXPECT_THAT(ask(&expired), StartsWith("refused"));
  EXPECT_THAT(ask(&stranger), StartsWith("refused"));
}

TEST_F(ApiNetwork, AClientWithoutACertificateIsNamed) {
  const auto server = certificates_.files("ca", "server");
  EXPECT_EQ(lines_about(server, server.ca, nullptr, "it has shown no certificate"), 1U);
}

TEST_F(ApiNetwork, AClientWhoseCertificateHasExpiredIsNamed) {
  const auto server = certificates_.files("ca", "server"), expired = certificates_.files("ca", "old", -10);
  EXPECT_EQ(lines_about(server, server.ca, &expired, "its certificate: certificate has expired"), 1U);
}

TEST_F(ApiNetwork, AClientWhoseCertificateIsRevokedIsNamed) {
  const auto server = certificates_.files("ca", "server"), revoked = certificates_.files("ca", "gone");
  certificates_.revoke("ca", {"gone"});
  EXPECT_EQ(lines_about(server, server.ca, &revoked, "its certificate: certificate revoked"), 1U);
}

/// Each client is refused then, and none of their certificates is at fault.
TEST_F(ApiNetwork, AListOfRevokedCertificatesThatHasEndedIsNamed) {
  const auto server = certificates_.files("ca", "server"), good = certificates_.files("ca", "good");
  certificates_.revoke("ca", {}, -3600, -10);
  EXPECT_EQ(lines_about(server, server.ca, &good, "its certificate: CRL has expired"), 1U);
  EXPECT_EQ(lines_.count("into [api] client_ca, then reload"), 1U);
}

TEST_F(ApiNetwork, CertificatesAreReadAgainWhileOldConnectionsStay) {
  const auto first = certificates_.files("ca", "first"), second = certificates_.files("ca2", "second"),
             expired = certificates_.files("ca", "old", -10);
  start(without_ca(first));
  auto client = context(first.ca), client2 = context(second.ca);
  ClientStream open(connect(), client);
  open.handshake(tls::ssl::stream_base::client);

  there([&] { ASSERT_TRUE(identity_->load(without_ca(second))); });
  EXPECT_THAT(talk(client2, get("/healthz")), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(talk(client, get("/healthz")), StartsWith("refused"));
  there([&] { EXPECT_FALSE(identity_->load({.cert = "/none", .key = "/none", .ca = {}})); });
  EXPECT_THAT(talk(client2, get("/healthz")), StartsWith("HTTP/1.1 200")) << "the one before stays";
  error_code error;
  std::string text;
  asio::write(open, asio::buffer(get("/healthz")), error);
  asio::read(open, asio::dynamic_buffer(text), error);
  EXPECT_THAT(text, StartsWith("HTTP/1.1 200"));
  there([&] { ASSERT_TRUE(identity_->load(without_ca(expired))); });
  EXPECT_THAT(talk(client, get("/healthz")), StartsWith("refused")) << "clients see that it is expired";
}

TEST_F(ApiNetwork, ASelfSignedCertificateIsKnownByItself) {
  const auto made = tls::self_signed({"localhost", "127.0.0.1", "::1"}, 10);
  ASSERT_TRUE(made) << made.error();
  const auto any = certificates_.files("ca", "self");
  for (const auto& [path, text] : std::vector<std::pair<std::filesystem::path, std::string>>{
           {any.cert, made->certificate}, {any.key, made->key}}) {
    std::FILE* out = std::fopen(path.c_str(), "w");
    ASSERT_NE(out, nullptr);
    std::fputs(text.c_str(), out);
    std::fclose(out);
  }
  start(without_ca(any));
  auto client = context(any.cert);
  client.set_verify_callback(tls::ssl::host_name_verification("localhost"));
  EXPECT_THAT(talk(client, get("/healthz")), StartsWith("HTTP/1.1 200"));
  client.set_verify_callback(tls::ssl::host_name_verification("other"));
  EXPECT_THAT(talk(client, get("/healthz")), StartsWith("refused"));
  EXPECT_FALSE(tls::self_signed({"a,IP:1.1.1.1"}, 1));
  EXPECT_FALSE(tls::self_signed({}, 1));
}

TEST_F(ApiNetwork, OneAddressHasItsShareOfConnectionsOnly) {
  const auto files = certificates_.files("ca", "server");
  start(without_ca(files), {.connections = 100}, {.connections_of_address = 3, .handshakes = 1000});
  std::vector<tcp::socket> held;
  for (int i = 0; i < 3; ++i) held.push_back(connect());
  there([] {});
  auto client = context(files.ca);
  EXPECT_THAT(talk(client, get("/healthz")), StartsWith("refused"));
  held.clear();
  std::string answer;
  for (int i = 0; i < 100 && !answer.starts_with("HTTP"); ++i) answer = talk(client, get("/healthz"));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200")) << "places are free again";
}

TEST_F(ApiNetwork, NewConnectionsASecondAreLimited) {
  const auto files = certificates_.files("ca", "server");
  start(without_ca(files), {.connections = 1000}, {.connections_of_address = 1000, .handshakes = 20});
  std::vector<tcp::socket> held;
  for (int i = 0; i < 60; ++i) {
    held.push_back(connect());
    held.back().non_blocking(true);
  }
  const auto closed = [&] {
    return std::ranges::count_if(held, [](tcp::socket& socket) {
      std::array<char, 1> byte{};
      error_code error;
      socket.read_some(asio::buffer(byte), error);
      return error != asio::error::would_block;
    });
  };
  // All of them are closed when no handshake has come in time; before that those that are too many.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  while (closed() < 30 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_GE(closed(), 30);
  EXPECT_LE(closed(), 40);
}

TEST_F(ApiNetwork, ClientsThatAreSilentOrSlowAreCut) {
  const auto files = certificates_.files("ca", "server");
  using std::chrono::milliseconds;
  start(without_ca(files), {.connections = 10,
                            .handshake = milliseconds(100),
                            .idle = milliseconds(100),
                            .request = milliseconds(100)});
  auto client = context(files.ca);
  auto mute = connect();
  std::string text;
  error_code error;
  asio::read(mute, asio::dynamic_buffer(text), error);
  EXPECT_EQ(error, asio::error::eof) << "no handshake";
  EXPECT_THAT(talk(client, ""), StartsWith("refused")) << "no request";
  EXPECT_THAT(talk(client, "GET /healthz HT"), StartsWith("refused")) << "half a request";
}

/// 401 comes before what is wrong with the body.
TEST_F(ApiNetwork, LargeBodiesAreReadOfKnownClientsOnly) {
  const auto files = certificates_.files("ca", "server");
  start(without_ca(files));
  auto client = context(files.ca);
  const auto put = [](std::size_t size, const std::string& more) {
    return "PUT /v1/log HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " + std::to_string(size) +
           "\r\n" + more + "\r\n" + std::string(std::min<std::size_t>(size, 100'000), ' ');
  };
  EXPECT_THAT(talk(client, put(10'000, "")), StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(talk(client, put(100'000, with_token())), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(talk(client, put(100'000, "")), StartsWith("HTTP/1.1 401")) << "though it is still sending";
  EXPECT_THAT(talk(client, put(99'999'999, "")), StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(talk(client, put(99'999'999, with_token())), StartsWith("HTTP/1.1 413"));
}

TEST_F(ApiNetwork, ABodyWithoutALengthIsReadOfKnownClientsOnly) {
  const auto files = certificates_.files("ca", "server");
  start(without_ca(files));
  auto client = context(files.ca);
  const auto chunked = [](const std::string& call, const std::string& more, const std::string& body) {
    return fmt::format(
        "{} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n{}\r\n"
        "{:x}\r\n{}\r\n0\r\n\r\n",
        call, more, body.size(), body);
  };
  const std::string log = R"({"level":"info"})";
  const auto refused = talk(client, chunked("PUT /v1/log", "", log));
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(refused, HasSubstr("WWW-Authenticate: Bearer"));
  const auto ufm = talk(client, chunked("POST /ufmRestV3/resources/pkeys", "", "{}"));
  EXPECT_THAT(ufm, StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(ufm, HasSubstr("\r\n\r\n{\"error\":"));
  EXPECT_THAT(talk(client, chunked("PUT /v1/log", with_token(), log)), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(talk(client, chunked("PUT /v1/log", with_token(), std::string(5'000'000, ' '))),
              testing::AnyOf(StartsWith("HTTP/1.1 413"), StartsWith("refused")));
  const auto login = "httpd_username=x&httpd_password=" + std::string(kSecret);
  EXPECT_THAT(talk(client, chunked("POST /dologin", "", login)), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(talk(client, chunked("POST /dologin", "", std::string(17'000, 'x'))),
              StartsWith("HTTP/1.1 413"));

  for (unsigned i = 0; i < access::Guard::kMost; ++i) {
    EXPECT_THAT(talk(client, chunked("PUT /v1/log", "Authorization: Bearer smd_0\r\n", log)),
                StartsWith("HTTP/1.1 401"));
  }
  EXPECT_THAT(talk(client, chunked("PUT /v1/log", with_token(), log)), StartsWith("HTTP/1.1 429"))
      << "as wrong tokens of other requests";
}

}  // namespace
}  // namespace smd::api
