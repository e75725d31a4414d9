// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/server.h"

#include <utility>

namespace smd::sa {
namespace {

/// Q_Key of QP 1 at every port.
constexpr std::uint32_t kQp1QKey = 0x80010000;

mad::LidRoute back_to(mad::LidRoute from) {
  from.qkey = kQp1QKey;
  return from;
}

}  // namespace

Server::Server(asio::any_io_executor executor, mad::Transport& gsi, sm::Compute& compute, Source source,
               Settings settings, log::Log log)
    : gsi_(gsi),
      compute_(compute),
      source_(std::move(source)),
      settings_(settings),
      log_(std::move(log)),
      tasks_(std::move(executor)) {
  gsi_.on_receive([this](std::span<mad::Received> batch) { received(batch); });
  tasks_.spawn(serve());
}

Server::~Server() { gsi_.on_receive(nullptr); }

asio::awaitable<void> Server::stop() {
  gsi_.on_receive(nullptr);
  co_await tasks_.stop();
}

void Server::received(std::span<mad::Received> batch) {
  for (auto& mad : batch) {
    if (mad.error != 0) continue;  // an answer of ours that found nobody
    if (queue_.size() < kQueue) {
      queue_.push_back(std::move(mad));
      continue;
    }
    if (const auto request = Request::parse(mad.bytes); request && is_question(*request)) {
      send({reply(*request, refuse(wire::kStatusBusy)), back_to(mad.from)});
    }
  }
  wake_.wake_all();
}

asio::awaitable<void> Server::serve() {
  for (;;) {
    while (queue_.empty()) {
      const bool woken = co_await wake_.wait();
      if (!woken) co_return;
    }
    const auto batch = std::exchange(queue_, {});
    std::vector<Reply> replies;
    co_await compute_.execute([&, settings = settings_] { replies = answers(batch, settings); });
    for (const auto& one : replies) send(one);
    const auto cancellation = co_await asio::this_coro::cancellation_state;
    if (cancellation.cancelled() != asio::cancellation_type::none) co_return;
  }
}

std::vector<Server::Reply> Server::answers(const std::vector<mad::Received>& batch,
                                           const Settings& settings) {
  std::vector<Reply> replies;
  look();
  // A client asks the master; where that is not us, another SA answers.
  if (seen_ && seen_->state != wire::SmState::master) return replies;
  replies.reserve(batch.size());
  for (const auto& mad : batch) {
    auto bytes = answer(directory_.get(), settings, mad.bytes);
    if (bytes) replies.push_back({std::move(*bytes), back_to(mad.from)});
  }
  return replies;
}

void Server::look() {
  auto now = source_();
  if (now == seen_) return;
  directory_ = now && now->subnet ? std::make_unique<const Directory>(now) : nullptr;
  seen_ = std::move(now);
}

void Server::send(const Reply& reply) {
  const auto sent = gsi_.send(reply.bytes, reply.to, std::chrono::milliseconds(0));
  if (sent) return;
  log_.warn("sa.not_answered")
      .kv("lid", reply.to.lid)
      .kv("errno", sent.error().error)
      .kv("reason", sent.error().what);
}

}  // namespace smd::sa
