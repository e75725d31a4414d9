// SPDX-License-Identifier: Apache-2.0
#include "smd/etcd/network.h"

#include <utility>

#include "mad/suspend.h"
#include "smd/etcd/follower.h"

namespace smd::etcd {
namespace {

std::string_view action_of(ErrorKind kind) {
  if (kind == ErrorKind::full)
    return "the fabric goes on, nothing is copied; etcdctl compact, defrag and alarm disarm, or a larger "
           "--quota-backend-bytes; tried again";
  if (kind == ErrorKind::unreachable)
    return "the fabric goes on, nothing is copied until etcd answers; tried again";
  return "the fabric goes on, nothing is copied; mend what etcd says; tried again";
}

}  // namespace

EtcdNetwork::EtcdNetwork(NetworkParts parts)
    : parts_(std::move(parts)), layout_(parts_.prefix, parts_.subnet), tasks_(parts_.executor) {}

EtcdNetwork::~EtcdNetwork() = default;

asio::awaitable<void> EtcdNetwork::stop() {
  if (const auto publisher = publisher_) publisher->close();
  co_await tasks_.stop();
}

void EtcdNetwork::failed(const Error& error) {
  const bool known = error_ && error_->kind == error.kind;
  error_ = error;
  if (known) return;
  parts_.log.warn("ha.etcd_failed")
      .kv("reason", error.text)
      .kv("action", action_of(error.kind))
      .subject(error.text);
}

/// That it answers is not yet that it takes what is written.
void EtcdNetwork::works(bool written) {
  if (written) pause_.reset();
  if (!error_ || (!written && error_->kind != ErrorKind::unreachable)) return;
  error_.reset();
  parts_.log.info("ha.etcd_works_again").always();
}

asio::awaitable<void> EtcdNetwork::publish(std::shared_ptr<Publisher> publisher) {
  co_await publisher->run(publisher);
  publisher_.reset();
  turn_.wake_one();
}

asio::awaitable<bool> EtcdNetwork::reachable(ClientPtr client) {
  const auto span = layout_.live();
  const auto answer = co_await client->range({.key = span.key, .end = span.end});
  const bool cancelled = co_await mad::was_cancelled();
  if (cancelled) co_return false;
  if (answer) works(false);
  if (!answer) failed(answer.error());
  co_return answer.has_value();
}

asio::awaitable<std::expected<replica::ByteStreamPtr, std::string>> EtcdNetwork::connect(std::string peer) {
  auto client = parts_.clients->make();
  const bool answers = co_await reachable(client);
  if (!answers) co_return std::unexpected(failure());
  auto follower = std::make_shared<Follower>(FollowerParts{.clock = parts_.clock,
                                                           .clients = *parts_.clients,
                                                           .layout = layout_,
                                                           .subnet = parts_.subnet,
                                                           .self = parts_.self},
                                             std::move(client));
  tasks_.spawn(follower->run(follower));
  tasks_.spawn(follower->watch(follower));
  co_return std::make_unique<AgentStream>(std::move(follower), std::move(peer));
}

asio::awaitable<std::expected<replica::ByteStreamPtr, std::string>> EtcdNetwork::accept() {
  while (accepting_ || publisher_) {
    const bool woken = co_await turn_.wait();
    if (!woken) co_return std::unexpected("cancelled");
  }
  accepting_ = true;
  ClientPtr client;
  for (bool answers = false; !answers;) {
    const bool time = co_await parts_.clock.sleep(pause_.value());
    if (!time) co_return std::unexpected("cancelled");
    // What etcd refuses takes time to mend. Once it answers, standbys may take what is there for all that
    // there is.
    const bool refuses = error_ && error_->kind != ErrorKind::unreachable;
    if (!refuses) pause_.reset();
    pause_.next();
    client = parts_.clients->make();
    answers = co_await reachable(client);
  }
  auto publisher = std::make_shared<Publisher>(PublisherParts{.clock = parts_.clock,
                                                              .clients = *parts_.clients,
                                                              .layout = layout_,
                                                              .subnet = parts_.subnet,
                                                              .failed = [this](const Error& e) { failed(e); },
                                                              .works = [this] { works(true); }},
                                               std::move(client));
  publisher_ = publisher;
  accepting_ = false;
  tasks_.spawn(publish(publisher));
  tasks_.spawn(publisher->watch_standbys(publisher));
  co_return std::make_unique<AgentStream>(std::move(publisher), kPeer);
}

std::vector<replica::StandbyCopy> EtcdNetwork::copies() const {
  return publisher_ ? publisher_->copies() : std::vector<replica::StandbyCopy>();
}

}  // namespace smd::etcd
