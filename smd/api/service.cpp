// SPDX-License-Identifier: Apache-2.0
#include "smd/api/service.h"

#include <chrono>
#include <utility>

#include "mad/base/file.h"
#include "mad/base/scheduling.h"
#include "smd/log/format.h"
#include "smd/tls/certificate.h"

namespace smd::api {
namespace {

/// A client of the network may ask once in a while on one connection, as Prometheus does.
constexpr mad::Duration kIdle = std::chrono::seconds(75);

tls::Files files_of(const config::ApiConfig& config) {
  return {.cert = config.cert, .key = config.key, .ca = config.client_ca};
}

/// Of "ADDRESS:PORT".
std::string_view port_of(std::string_view listen) { return listen.substr(listen.rfind(':') + 1); }

}  // namespace

Service::Service(Backend& backend, sm::Compute& compute, log::Log log)
    : backend_(backend), compute_(compute), log_(std::move(log)), local_(io_, clock_, compute, backend) {}

Service::~Service() { stop(); }

std::expected<void, std::string> Service::listen_at(const std::filesystem::path& path) {
  auto acceptor = api::listen_at(io_, path);
  if (!acceptor) return std::unexpected(std::move(acceptor.error()));
  local_.start(std::move(*acceptor), path);
  return {};
}

void Service::start(config::ApiConfig config) {
  reload(std::move(config));
  asio::post(io_, [this] { tasks_.spawn(look_at_dates()); });
  thread_ = std::jthread([this] {
    base::wake_at_once();  // it works for microseconds: clients need not wait for who computes
    const auto keep = asio::make_work_guard(io_);
    io_.run();
  });
}

void Service::reload(config::ApiConfig config) {
  asio::post(io_, [this, next = std::move(config)]() mutable {
    wanted_ = std::move(next);
    begin_to_follow();
  });
}

void Service::begin_to_follow() {
  if (!std::exchange(applying_, true)) tasks_.spawn(follow());
}

/// One configuration after the other.
asio::awaitable<void> Service::follow() {
  while (wanted_ || try_again_) {
    const bool again = std::exchange(try_again_, false) && !wanted_;
    if (again && !unopened_) continue;
    auto next = again ? *unopened_ : *std::exchange(wanted_, std::nullopt);
    if (!again) {
      wait_no_longer();
      co_await apply_webhooks(next.webhook);
    }
    co_await apply(std::move(next));
  }
  applying_ = false;
}

asio::awaitable<void> Service::apply(config::ApiConfig config) {
  const bool moves = config.listen != served_.listen;
  const bool stays = !moves && config.max_connections == served_.max_connections;
  if (network_ && config.listen.empty()) co_await close_network();
  if (config.listen.empty()) co_return;
  const auto read = identity_->load(files_of(config));
  if (!read) co_return refuse(config, read.error());
  const auto now = base::read_file(config.cert);
  const bool other = now && std::exchange(cert_, *now) != *now;
  if (other || !unopened_) warn_of_expiry(config, true);
  if (network_ && stays) {
    if (const auto validity = tls::validity_of(config.cert); other && validity)
      log_.info("api.certificate_in_use")
          .kv("cert", config.cert)
          .kv("ends", log::to_utc(validity->ends))
          .always();
    served_ = std::move(config);
    co_return;
  }
  if (network_ && !moves) co_await close_network();
  auto listener = open(config);
  if (!listener && network_ && port_of(config.listen) == port_of(served_.listen)) {
    co_await close_network();  // which may be what is in the way
    listener = open(config);
  }
  if (!listener) co_return;
  if (network_) co_await close_network();
  network_ = std::make_unique<Server>(io_, clock_, compute_, backend_,
                                      ServerLimits{.connections = config.max_connections, .idle = kIdle});
  network_->start(std::move(listener));
  log_.info("api.on_network").kv("listen", config.listen).always();
  served_ = std::move(config);
}

/// What is on the network stays there with the certificate before. Else the files may come later, as those of
/// an ACME client.
void Service::refuse(const config::ApiConfig& config, const std::string& reason) {
  const bool waits = !network_ || unopened_;
  const bool is_new = std::exchange(said_, reason) != reason;
  if (waits) try_later(config, reason);
  if (!is_new) return;
  log_.error("api.certificate_refused")
      .kv("reason", reason)
      .kv("action", network_ ? "the one before stays in use"
                             : "the API is not on the network; the files are read again after 1 to 60 s")
      .always();
}

/// `again`: also what was said before.
void Service::warn_of_expiry(const config::ApiConfig& config, bool again) {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  for (const auto& warning : dates_.look(files_of(config), now, again)) {
    const bool is_list = warning.of == tls::Dated::crl;
    log_.warn(is_list ? "api.crl_expires" : "api.certificate_expires")
        .kv("reason", warning.reason)
        .kv("action", is_list ? "put a current list into that file, then reload"
                              : "replace it (smd api cert), then reload")
        .always();
  }
}

/// What is in use comes to its end without a reload.
asio::awaitable<void> Service::look_at_dates() {
  for (bool time = true; time;) {
    time = co_await clock_.sleep(tls::kLookAtDates);
    if (time && network_) warn_of_expiry(served_, false);
  }
}

asio::awaitable<void> Service::close_network() {
  co_await network_->stop();
  network_.reset();
  log_.info("api.network_closed").kv("listen", served_.listen).always();
  served_ = {};
}

/// All of them anew: a secret may be another one. They go on where they were.
asio::awaitable<void> Service::apply_webhooks(std::vector<config::WebhookConfig> webhooks) {
  for (const auto& old : webhooks_) co_await old->stop();
  webhooks_.clear();
  std::vector<std::string> urls;
  for (auto& one : webhooks) {
    urls.push_back(one.url);
    auto hook = std::make_unique<Webhook>(io_, clock_, compute_, backend_, log_, std::move(one));
    if (hook->start()) webhooks_.push_back(std::move(hook));
  }
  co_await compute_.execute([&] { backend_.event_log().keep_positions(urls); });
}

/// Null where it cannot be opened now; what listens now goes on.
std::unique_ptr<TlsListener> Service::open(const config::ApiConfig& config) {
  auto listener = TlsListener::open(io_, clock_, config.listen, identity_, log_);
  if (!listener) {
    wait_for(config, listener.error());
    return nullptr;
  }
  wait_no_longer();
  return std::move(*listener);
}

void Service::wait_for(const config::ApiConfig& config, const std::string& reason) {
  const bool is_new = std::exchange(said_, reason) != reason;
  try_later(config, reason);
  if (!is_new) return;
  log_.error("api.not_on_network")
      .kv("reason", reason)
      .kv("action", "tried again after 1 to 60 s; under systemd the unit needs the drop-in network.conf")
      .always();
}

void Service::try_later(const config::ApiConfig& config, const std::string& reason) {
  backend_.not_on_network(reason);  // status says it when the log does
  unopened_ = config;
  if (retry_timer_ != 0) clock_.cancel(std::exchange(retry_timer_, 0));
  retry_timer_ = clock_.call_at(clock_.now() + pause_.next(), [this] {
    retry_timer_ = 0;
    try_again_ = true;
    begin_to_follow();
  });
}

void Service::wait_no_longer() {
  if (retry_timer_ != 0) clock_.cancel(std::exchange(retry_timer_, 0));
  unopened_.reset();
  said_.clear();
  pause_.reset();
  backend_.not_on_network({});
}

void Service::close() {
  asio::post(io_, [this] {
    local_.close();
    if (network_) network_->close();
  });
}

void Service::stop() {
  if (!thread_.joinable()) return;
  asio::post(io_, [this] { asio::co_spawn(io_, end(), [this](const std::exception_ptr&) { io_.stop(); }); });
  thread_.join();
}

asio::awaitable<void> Service::end() {
  if (retry_timer_ != 0) clock_.cancel(std::exchange(retry_timer_, 0));
  co_await tasks_.stop();
  for (const auto& hook : webhooks_) co_await hook->stop();
  co_await local_.stop();
  if (network_) co_await network_->stop();
}

}  // namespace smd::api
