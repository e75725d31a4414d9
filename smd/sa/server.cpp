// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/server.h"

#include <utility>

namespace smd::sa {
namespace {

/// Q_Key of QP 1 at every port.
constexpr std::uint32_t kQp1QKey = 0x80010000;

}  // namespace

Server::Server(mad::Transport& gsi, Source source, Settings settings, log::Log log)
    : gsi_(gsi), source_(std::move(source)), settings_(settings), log_(std::move(log)) {
  gsi_.on_receive([this](std::span<mad::Received> batch) { received(batch); });
}

Server::~Server() { gsi_.on_receive(nullptr); }

void Server::look() {
  auto now = source_();
  if (now == seen_) return;
  directory_ = now && now->subnet ? std::make_unique<const Directory>(now) : nullptr;
  seen_ = std::move(now);
}

void Server::received(std::span<mad::Received> batch) {
  look();
  // A client asks the master; where that is not us, another SA answers.
  if (seen_ && seen_->state != wire::SmState::master) return;
  for (const auto& mad : batch) {
    if (mad.error == 0) answer_one(mad, directory_.get());
  }
}

void Server::answer_one(const mad::Received& mad, const Directory* directory) {
  const auto bytes = answer(directory, settings_, mad.bytes);
  if (!bytes) return;
  auto to = mad.from;
  to.qkey = kQp1QKey;
  if (const auto sent = gsi_.send(*bytes, to, std::chrono::milliseconds(0)); !sent) {
    log_.warn("sa.not_answered")
        .kv("lid", to.lid)
        .kv("errno", sent.error().error)
        .kv("reason", sent.error().what);
  }
}

}  // namespace smd::sa
