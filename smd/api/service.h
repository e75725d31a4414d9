// SPDX-License-Identifier: Apache-2.0
#pragma once
// The API's thread: the Unix socket, and the network where it is configured. It shares no thread with what
// manages a fabric.

#include <expected>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "config/config.h"
#include "mad/asio.h"
#include "mad/backoff.h"
#include "mad/real_clock.h"
#include "mad/task_group.h"
#include "smd/api/server.h"
#include "smd/api/tls_listener.h"
#include "smd/api/webhook.h"
#include "smd/log/log.h"
#include "smd/tls/date_warnings.h"

namespace smd::api {

class Service {
 public:
  /// All references outlive it.
  Service(Backend& backend, sm::Compute& compute, log::Log log);
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  ~Service();

  /// Before start(). The error is one line.
  std::expected<void, std::string> listen_at(const std::filesystem::path& path);
  /// Starts the thread. An address that cannot be listened at, and a certificate that cannot be used while
  /// there is none before it, are logged, shown to the backend, and tried again after 1 to 60 s.
  void start(config::ApiConfig config);
  /// Reads the certificates again, and moves to another address where the configuration has one, as soon as
  /// it can be listened at. Connections stay, unless the address changes. Returns at once.
  void reload(config::ApiConfig config);
  /// Takes the Unix socket away and accepts no further client. Returns at once.
  void close();
  /// The same, ends every connection, and waits for that. From another thread than the API's; not after
  /// that.
  void stop();

 private:
  asio::awaitable<void> follow();
  asio::awaitable<void> apply(config::ApiConfig config);
  asio::awaitable<void> apply_webhooks(std::vector<config::WebhookConfig> webhooks);
  void begin_to_follow();
  std::unique_ptr<TlsListener> open(const config::ApiConfig& config);
  asio::awaitable<void> close_network();
  void refuse(const config::ApiConfig& config, const std::string& reason);
  void warn_of_expiry(const config::ApiConfig& config, bool again);
  asio::awaitable<void> look_at_dates();
  void wait_for(const config::ApiConfig& config, const std::string& reason);
  void try_later(const config::ApiConfig& config, const std::string& reason);
  void wait_no_longer();
  asio::awaitable<void> end();

  Backend& backend_;
  sm::Compute& compute_;
  log::Log log_;
  asio::io_context io_{1};
  mad::RealClock clock_{io_};
  Server local_;
  std::shared_ptr<TlsIdentity> identity_ = std::make_shared<TlsIdentity>();
  std::unique_ptr<Server> network_;  ///< null: not on the network
  config::ApiConfig served_;         ///< what network_ was opened by
  std::string cert_;                 ///< content of its certificate file
  tls::DateWarnings dates_;
  std::vector<std::unique_ptr<Webhook>> webhooks_;
  std::optional<config::ApiConfig> wanted_;    ///< to be applied
  std::optional<config::ApiConfig> unopened_;  ///< what cannot be on the network now; tried again
  std::string said_;                           ///< why, as it was logged last
  bool try_again_ = false;
  bool applying_ = false;
  /// Between two tries of an address: it may come with a link, a lease or a failover.
  mad::Backoff pause_{std::chrono::seconds(1), std::chrono::seconds(60)};
  mad::Clock::TimerId retry_timer_ = 0;  ///< 0: none is to come
  mad::TaskGroup tasks_{io_.get_executor()};
  std::jthread thread_;
};

}  // namespace smd::api
