// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/umad_server/server.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <unordered_map>

#include "mad/sim/umad_server/seqpacket.h"
#include "mad/sim/umad_server/session.h"

namespace smd::sim {
namespace {

constexpr std::size_t kEvents = 256;
constexpr std::size_t kTurns = 4;  ///< of one program before the next one's

}  // namespace

struct Server::Impl {
  std::filesystem::path path;
  Descriptor listening, events{::epoll_create1(EPOLL_CLOEXEC)},
      woken{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  Fabric* fabric = nullptr;
  std::unordered_map<int, std::unique_ptr<Session>> sessions;
  std::unordered_map<ClientId, Session*> by_client;
  std::vector<int> touched;  ///< sessions whose sends were given up
  std::array<epoll_event, kEvents> ready{};
  std::size_t ready_count = 0;
  bool accepting = true;
  std::uint64_t dropped = 0;
  Receiver receiver{Session::kMessage};

  void watch(int fd, std::uint32_t what, int operation) const {
    epoll_event event{.events = what, .data = {.fd = fd}};
    ::epoll_ctl(events.get(), operation, fd, &event);
  }

  void accept_all() {
    for (;;) {
      Descriptor fd(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!fd) {
        // No descriptor is free: new clients wait until one leaves.
        if (errno == EMFILE || errno == ENFILE) accept_more(false);
        return;
      }
      // Room for some thousand MADs; the kernel takes what its administrator allows.
      constexpr int kRoom = 4 << 20;
      ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDBUF, &kRoom, sizeof(kRoom));
      const int number = fd.get();
      watch(number, EPOLLIN, EPOLL_CTL_ADD);
      sessions[number] = std::make_unique<Session>(
          *fabric, std::move(fd), [this](Session& session) { touched.push_back(session.fd()); });
    }
  }

  void accept_more(bool on) {
    if (accepting == on) return;
    accepting = on;
    watch(listening.get(), on ? EPOLLIN : 0U, EPOLL_CTL_MOD);
  }

  void end(int fd) {
    const auto found = sessions.find(fd);
    for (const auto client : found->second->clients()) by_client.erase(client);
    dropped += found->second->dropped();
    const bool held_sm = !found->second->umad();
    sessions.erase(found);
    accept_more(true);
    if (!held_sm) return;
    for (auto& [other, session] : sessions) session->try_sm();
  }

  void note_clients(Session& session) {
    if (!session.clients_changed()) return;
    std::erase_if(by_client, [&](const auto& each) { return each.second == &session; });
    for (const auto client : session.clients()) by_client[client] = &session;
  }

  void receive(int fd) {
    const auto found = sessions.find(fd);
    if (found == sessions.end()) return;
    auto& session = *found->second;
    for (std::size_t turn = 0; turn < kTurns; ++turn) {
      bool ended = false;
      const auto count = receiver.receive(fd, ended);
      for (std::size_t i = 0; i < count; ++i)
        ended = !session.receive(receiver.bytes(i), receiver.take(i), real_now()) || ended;
      if (ended) return end(fd);
      note_clients(session);
      if (count < Receiver::kMost) break;
      flush(session);  // answers to the first need not wait for the last
    }
    flush(session);
  }

  void flush(Session& session) const {
    const bool before = session.blocked();
    session.flush();
    if (session.blocked() != before)
      watch(session.fd(), session.blocked() ? EPOLLIN | EPOLLOUT : EPOLLIN, EPOLL_CTL_MOD);
  }
};

std::expected<std::unique_ptr<Server>, std::string> Server::at(const std::filesystem::path& path) {
  auto listening = listen_at(path);
  if (!listening) return std::unexpected(listening.error());
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->listening = std::move(*listening);
  impl->watch(impl->listening.get(), EPOLLIN, EPOLL_CTL_ADD);
  impl->watch(impl->woken.get(), EPOLLIN, EPOLL_CTL_ADD);
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() {
  std::error_code ignored;
  std::filesystem::remove(impl_->path, ignored);
}

const std::filesystem::path& Server::path() const { return impl_->path; }
void Server::serve(Fabric& fabric) { impl_->fabric = &fabric; }

void Server::wait(std::optional<TimePoint> until) {
  constexpr auto kLong = std::chrono::milliseconds(20);
  int milliseconds = -1;
  if (until) {
    const auto left = std::max(Duration{0}, Duration(*until - real_now()));
    milliseconds = static_cast<int>(
        std::min<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(left).count(), 60'000));
    // epoll counts in milliseconds; a fabric with a latency model wants less.
    if (left < kLong) {
      pollfd both{.fd = impl_->events.get(), .events = POLLIN, .revents = 0};
      const timespec time{.tv_sec = 0, .tv_nsec = left.count()};
      ::ppoll(&both, 1, &time, nullptr);
      milliseconds = 0;
    }
  }
  const int count = ::epoll_wait(impl_->events.get(), impl_->ready.data(), kEvents, milliseconds);
  impl_->ready_count = count > 0 ? static_cast<std::size_t>(count) : 0;
}

void Server::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto wrote = ::write(impl_->woken.get(), &one, sizeof(one));
}

void Server::receive() {
  for (std::size_t i = 0; i < impl_->ready_count; ++i) {
    const int fd = impl_->ready[i].data.fd;
    if (fd == impl_->listening.get()) {
      impl_->accept_all();
    } else if (fd == impl_->woken.get()) {
      std::uint64_t count = 0;
      [[maybe_unused]] const auto got = ::read(fd, &count, sizeof(count));
    } else {
      impl_->receive(fd);
    }
  }
  impl_->ready_count = 0;
}

void Server::hand_out(std::vector<ClientId>& ready) {
  auto& touched = impl_->touched;
  std::erase_if(ready, [&](ClientId client) {
    const auto found = impl_->by_client.find(client);
    if (found == impl_->by_client.end()) return false;
    touched.push_back(found->second->fd());
    return true;
  });
  std::ranges::sort(touched);
  const auto twice = std::ranges::unique(touched);
  touched.erase(twice.begin(), twice.end());
  for (const int fd : touched) {
    const auto found = impl_->sessions.find(fd);
    if (found != impl_->sessions.end()) impl_->flush(*found->second);
  }
  touched.clear();
}

void Server::end() {
  impl_->by_client.clear();
  impl_->sessions.clear();
}

std::size_t Server::sessions() const { return impl_->sessions.size(); }

std::uint64_t Server::dropped() const {
  auto sum = impl_->dropped;
  for (const auto& [fd, session] : impl_->sessions) sum += session->dropped();
  return sum;
}

}  // namespace smd::sim
