// SPDX-License-Identifier: Apache-2.0
#include "smd/api/webhook.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <boost/asio/connect.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <stdexcept>
#include <utility>

#include "config/glob.h"
#include "config/scalars.h"
#include "mad/base/file.h"
#include "mad/deadline.h"
#include "smd/api/channel.h"
#include "smd/api/event_view.h"
#include "smd/api/json_out.h"
#include "smd/api/request.h"
#include "smd/base/unix_time.h"
#include "smd/log/fields.h"
#include "smd/tls/context.h"
#include "smd/tls/handshake.h"

namespace smd::api {
namespace {

namespace http = boost::beast::http;
using asio::ip::tcp;
using Post = http::request<http::string_body>;

/// Events of one request.
constexpr std::size_t kEventsAtOnce = 100;
constexpr std::size_t kShortestSecret = 16;

/// Sends it and reads the header of the answer. Empty: the receiver has it; else why not.
template <class Bytes>
asio::awaitable<std::string> exchange(Bytes* stream, std::shared_ptr<const Post> post) {
  const auto [not_sent, sent] = co_await http::async_write(*stream, *post, kTuple);
  if (not_sent) co_return not_sent.message();
  boost::beast::flat_buffer buffer;
  http::response_parser<http::empty_body> answer;
  answer.header_limit(16'384);
  const auto [not_read, read] = co_await http::async_read_header(*stream, buffer, answer, kTuple);
  if (not_read) co_return not_read.message();
  const auto status = answer.get().result_int();
  if (status / 100 == 2) co_return std::string();
  co_return fmt::format("status {}", status);
}

asio::awaitable<std::string> exchange_tls(tls::ssl::stream<tcp::socket>* stream, std::string host,
                                          std::shared_ptr<const Post> post) {
  const auto refused = co_await tls::shake_hands_with(stream, std::move(host));
  if (refused) co_return refused.message();
  co_return co_await exchange(stream, std::move(post));
}

}  // namespace

std::optional<WebAddress> parse_web_address(std::string_view url) {
  WebAddress found{.tls = url.starts_with("https://")};
  if (!found.tls && !url.starts_with("http://")) return std::nullopt;
  url.remove_prefix(found.tls ? 8 : 7);
  const auto slash = std::min(url.find('/'), url.size());
  found.shown = url.substr(0, slash);
  found.target = slash < url.size() ? url.substr(slash) : "/";
  auto host = found.shown;
  const auto bracket = host.rfind(']');
  const auto colon = host.find(':', bracket == std::string::npos ? 0 : bracket);
  found.port = colon != std::string::npos ? host.substr(colon + 1) : found.tls ? "443" : "80";
  host.erase(std::min(colon, host.size()));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty() || found.port.empty()) return std::nullopt;
  found.host = std::move(host);
  return found;
}

std::expected<std::string, std::string> webhook_secret(const config::WebhookConfig& config) {
  const auto read = base::read_file(config.secret_file);
  if (!read) return std::unexpected(to_string(read.error()));
  std::string secret(config::trim(*read));
  if (secret.size() < kShortestSecret)
    return std::unexpected(fmt::format("{}: a secret of {} bytes; at least {} are needed", config.secret_file,
                                       secret.size(), kShortestSecret));
  return secret;
}

std::string webhook_signature(std::string_view secret, std::string_view timestamp, std::string_view body) {
  const auto text = fmt::format("{}.{}", timestamp, body);
  std::array<unsigned char, EVP_MAX_MD_SIZE> sum{};
  unsigned length = 0;
  if (HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), sum.data(), &length) == nullptr)
    throw std::runtime_error("OpenSSL has no HMAC-SHA-256");
  std::string shown = "sha256=";
  for (unsigned i = 0; i < length; ++i) shown += fmt::format("{:02x}", sum.at(i));
  return shown;
}

Webhook::Webhook(asio::io_context& io, mad::Clock& clock, sm::Compute& compute, Backend& backend,
                 log::Log log, config::WebhookConfig config, WebhookTimes times)
    : io_(io),
      clock_(clock),
      compute_(compute),
      backend_(backend),
      log_(std::move(log)),
      config_(std::move(config)),
      times_(times),
      pause_(times.first_retry, times.last_retry),
      tasks_(io.get_executor()) {}

std::expected<void, std::string> Webhook::read_files() {
  const auto address = parse_web_address(config_.url);
  if (!address) return std::unexpected(std::string("not a URL"));
  address_ = *address;
  shown_ = fmt::format("{}://{}", address->tls ? "https" : "http", address->shown);
  auto secret = webhook_secret(config_);
  if (!secret) return std::unexpected(std::move(secret.error()));
  secret_ = *std::move(secret);
  if (!address_.tls) return {};
  auto context = tls::trusting_context(config_.ca_file);
  if (!context) return std::unexpected(std::move(context.error()));
  context_ = std::make_unique<tls::ssl::context>(std::move(*context));
  return {};
}

bool Webhook::start() {
  if (const auto read = read_files(); !read) {
    log_.error("api.webhook_refused")
        .kv("url", shown_)
        .kv("reason", read.error())
        .kv("action", "nothing is sent there; mend it, then reload")
        .always();
    return false;
  }
  tasks_.spawn(run());
  return true;
}

asio::awaitable<void> Webhook::stop() { co_await tasks_.stop(); }

asio::awaitable<void> Webhook::run() {
  co_await compute_.execute([this] { begin(); });
  for (;;) {
    if (body_.empty() && backend_.event_log().last() != seen_)
      co_await compute_.execute([this] { collect(); });
    tell_if_steady();
    auto wait = times_.look;
    if (!body_.empty()) {
      const auto reason = co_await post();
      if (reason.empty()) {
        co_await compute_.execute([this] { delivered(); });
        continue;
      }
      failed(reason);
      wait = pause_.value();
    }
    const bool time = co_await clock_.sleep(wait);
    if (!time) co_return;
  }
}

void Webhook::begin() {
  auto& kept = backend_.event_log();
  if (const auto position = kept.position(config_.url)) {
    at_ = *position;
  } else {
    at_ = kept.last();
    kept.set_position(config_.url, at_);
  }
  kept_ = at_;
}

/// What follows, as the next body. That something was missing is said with the next event.
void Webhook::collect() {
  auto& kept = backend_.event_log();
  const auto last = kept.last();
  const auto found =
      kept.find({.after = at_, .limit = kEventsAtOnce, .wanted = [this](const events::Event& event) {
                   return is_wanted(event);
                 }});
  gap_ = gap_ || found.gap;
  if (found.events.empty()) {
    at_ = found.next;
    seen_ = last;
    return keep_far_position();
  }
  sm::JsonArray list;
  for (const auto& event : found.events)
    list.push_back(event_json(*event, std::get<events::NamedLogEvent>(event->payload).fields.unpack()));
  body_ = sm::to_text(sm::Json(sm::JsonObject{
      {"events", sm::Json(std::move(list))}, {"next", text(to_text(found.next))}, {"gap", sm::Json(gap_)}}));
  delivery_ = to_text(found.events.front()->id());
  next_ = found.next;
}

/// Of a receiver that wants few events: where it was told of one last is not kept for ever, and a restart
/// would say that something is missing.
void Webhook::keep_far_position() {
  constexpr std::uint64_t kFar = 10'000;
  const bool far = at_.epoch != kept_.epoch || at_.number >= kept_.number + kFar;
  if (gap_ || !far) return;
  backend_.event_log().set_position(config_.url, at_);
  kept_ = at_;
}

/// What the receiver itself has caused is not sent to it: one that fails now and then would never be at rest.
bool Webhook::is_wanted(const events::Event& event) const {
  const auto& line = std::get<events::NamedLogEvent>(event.payload);
  if (line.name.starts_with("api.webhook_")) {
    const auto fields = line.fields.unpack();
    const auto* url = log::value_of(fields, "url");
    if (url != nullptr && *url == shown_) return false;
  }
  return config_.events.empty() || std::ranges::any_of(config_.events, [&](const auto& pattern) {
           return config::matches_glob(pattern, line.name);
         });
}

void Webhook::delivered() {
  at_ = next_;
  gap_ = false;
  body_.clear();
  pause_.reset();
  backend_.event_log().set_position(config_.url, at_);
  kept_ = at_;
}

void Webhook::tell_if_steady() {
  if (!failing_ || pause_.value() != mad::Duration::zero() || clock_.now() - failed_at_ < times_.steady)
    return;
  failing_ = false;
  log_.info("api.webhook_works_again").kv("url", shown_).always();
}

void Webhook::failed(const std::string& reason) {
  failed_at_ = clock_.now();
  if (!std::exchange(failing_, true)) {
    log_.warn("api.webhook_failed")
        .kv("url", shown_)
        .kv("reason", reason)
        .kv("action", "tried again; events wait")
        .subject(config_.url);
  }
  pause_.next();
}

/// One try. Empty: the receiver has taken the body.
asio::awaitable<std::string> Webhook::post() {
  const auto timestamp = std::to_string(sm::unix_now());
  auto post = std::make_shared<Post>(http::verb::post, address_.target, 11, body_);
  post->set(http::field::host, address_.shown);
  post->set(http::field::user_agent, "smd");
  post->set(http::field::content_type, "application/json");
  post->set(http::field::connection, "close");
  post->set("X-SMD-Delivery", delivery_);
  post->set("X-SMD-Timestamp", timestamp);
  post->set("X-SMD-Signature", webhook_signature(secret_, timestamp, body_));
  post->prepare_payload();

  // One that is not used costs nothing.
  auto plain = tls::ssl::context(tls::ssl::context::tls_client);
  tls::ssl::stream<tcp::socket> stream(io_, context_ ? *context_ : plain);
  tcp::resolver resolver(io_);
  const mad::Deadline deadline(clock_, times_.patience, [&stream, &resolver] {
    error_code ignored;
    stream.next_layer().close(ignored);
    resolver.cancel();
  });
  const auto [unknown, ends] = co_await resolver.async_resolve(address_.host, address_.port, kTuple);
  if (deadline.over()) co_return std::string("its name is not resolved in time");
  if (unknown) co_return unknown.message();
  const auto [refused, end] = co_await asio::async_connect(stream.next_layer(), ends, kTuple);
  std::string reason = refused.message();
  if (!refused && context_) reason = co_await exchange_tls(&stream, address_.host, post);
  if (!refused && !context_) reason = co_await exchange(&stream.next_layer(), post);
  co_return deadline.over() ? std::string("no answer in time") : reason;
}

}  // namespace smd::api
