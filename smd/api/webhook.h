// SPDX-License-Identifier: Apache-2.0
#pragma once
// Events posted to a receiver: at least once each, in order, signed.

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "config/config.h"
#include "mad/asio.h"
#include "mad/backoff.h"
#include "mad/clock.h"
#include "mad/task_group.h"
#include "smd/api/backend.h"
#include "smd/base/compute.h"
#include "smd/log/log.h"
#include "smd/tls/ssl.h"

namespace smd::api {

/// Where a receiver is.
struct WebAddress {
  bool tls = false;
  std::string host{}, port{};  ///< without brackets
  std::string target{};        ///< path and query
  std::string shown{};         ///< host and port as they stand in the URL
};
/// Of "https://HOST[:PORT][/PATH]"; nothing where it is none.
std::optional<WebAddress> parse_web_address(std::string_view url);

/// The content of its secret_file; the error says why it cannot be used. Reads the file.
std::expected<std::string, std::string> webhook_secret(const config::WebhookConfig& config);

/// "sha256=" and HMAC-SHA256 of "TIMESTAMP.BODY" in hexadecimal.
std::string webhook_signature(std::string_view secret, std::string_view timestamp, std::string_view body);

struct WebhookTimes {
  mad::Duration look = std::chrono::milliseconds(250);  ///< between two looks for events
  mad::Duration patience = std::chrono::seconds(10);    ///< of one try
  mad::Duration first_retry = std::chrono::seconds(1), last_retry = std::chrono::minutes(10);
  mad::Duration steady = std::chrono::minutes(1);  ///< without a failure: it works again
};

/// On one io_context's thread. A receiver that cannot be reached costs a line in the log when that begins and
/// one when it has worked for WebhookTimes::steady. stop() must have ended before it dies.
class Webhook {
 public:
  /// All references outlive it.
  Webhook(asio::io_context& io, mad::Clock& clock, sm::Compute& compute, Backend& backend, log::Log log,
          config::WebhookConfig config, WebhookTimes times = {});
  Webhook(const Webhook&) = delete;
  Webhook& operator=(const Webhook&) = delete;

  /// Goes on where it, or one of its URL in an earlier process, has stopped; a new one begins now. False: its
  /// files cannot be used, which is said in the log.
  bool start();
  /// Ends the delivery that is under way; what was not delivered is sent after the next start().
  asio::awaitable<void> stop();

 private:
  asio::awaitable<void> run();
  void begin();
  void collect();
  void keep_far_position();
  void delivered();
  void failed(const std::string& reason);
  void tell_if_steady();
  bool is_wanted(const events::Event& event) const;
  asio::awaitable<std::string> post();
  std::expected<void, std::string> read_files();

  asio::io_context& io_;
  mad::Clock& clock_;
  sm::Compute& compute_;
  Backend& backend_;
  log::Log log_;
  config::WebhookConfig config_;
  WebhookTimes times_;
  WebAddress address_;
  std::string secret_;
  std::unique_ptr<tls::ssl::context> context_;  ///< null: without TLS
  events::EventId at_{};                        ///< all up to here is delivered
  std::optional<events::EventId> seen_{};       ///< nothing follows up to here
  std::string body_;                            ///< to be delivered; empty: nothing
  std::string delivery_;                        ///< id of its first event
  events::EventId next_{};                      ///< where to go on after it
  events::EventId kept_{};                      ///< that is kept as its position
  bool gap_ = false;                            ///< before what is delivered next
  mad::Backoff pause_;                          ///< before the next try; zero: the last one was good
  bool failing_ = false;                        ///< told, and not yet that it works again
  mad::TimePoint failed_at_{};
  std::string shown_;  ///< the URL without its path, which may be a secret
  mad::TaskGroup tasks_;
};

}  // namespace smd::api
