// SPDX-License-Identifier: Apache-2.0
#include "mad/umad/receiver.h"

#include <infiniband/umad.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <optional>
#include <utility>

#include "mad/base/scheduling.h"
#include "mad/umad/address.h"
#include "mad/wire/smp.h"

namespace smd::umad {
namespace {

constexpr int kPauseMs = 10;
constexpr int kWaitMs = 100;
constexpr auto kLook = std::chrono::milliseconds(1);
constexpr std::int64_t kLongest = 65'536;  ///< bytes of a MAD; of a longer one there are so many and one
/// The same of an answer, which we have asked for: all members of all groups of the largest fabric.
constexpr std::int64_t kLongestAnswer = std::int64_t{64} << 20U;
constexpr std::size_t kWaiting = 4 * Receiver::kBatch;  ///< then they wait in the kernel
constexpr unsigned kFailures = 20;                      ///< in a row, before a descriptor counts as dead

bool is_smp(const mad::Received& received) {
  if (received.bytes.size() < 2) return true;
  const auto mgmt_class = static_cast<wire::MgmtClass>(received.bytes[1]);
  return mgmt_class == wire::MgmtClass::sm_lid || mgmt_class == wire::MgmtClass::sm_directed;
}

/// The kernel gives back each answer that it could send again, acknowledged or not.
std::optional<AnswersUnderWay::Key> answer_that_ended(const mad::Received& received) {
  if (received.error == 0) return std::nullopt;
  const auto header = wire::decode<wire::MadHeader>(received.bytes);
  const bool answer =
      header && header->mgmt_class == wire::MgmtClass::sa && wire::is_response(header->method);
  if (!answer) return std::nullopt;
  return AnswersUnderWay::Key{.tid = header->tid, .lid = received.from.lid};
}

}  // namespace

void Delivery::give(std::vector<mad::Received> batch) {
  std::vector<mad::Received> smps, gmps;
  for (auto& received : batch) {
    if (const auto ended = answer_that_ended(received)) answers.end(*ended);
    (gsi_sink && !is_smp(received) ? gmps : smps).push_back(std::move(received));
  }
  if (sink && !smps.empty()) sink(smps);
  if (!gmps.empty()) gsi_sink(gmps);
}

Receiver::Receiver(asio::io_context& io, int descriptor, std::shared_ptr<Delivery> delivery)
    : io_(io),
      descriptor_(descriptor),
      delivery_(std::move(delivery)),
      buffer_(words(wire::kMadBytes)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

Receiver::~Receiver() = default;  // jthread: asks to stop, then joins

void Receiver::run(const std::stop_token& stop) {
  std::vector<mad::Received> batch;
  while (!stop.stop_requested() && delivery_->broken.load() == 0) {
    if (!receive(kWaitMs, batch)) continue;
    take_waiting(batch);
    if (!batch.empty()) deliver(stop, std::exchange(batch, {}));
  }
  // umad2sim of ibsim 0.10 crashes on an answer to a descriptor that is closed: take what is on its way.
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  while (delivery_->broken.load() == 0 && delivery_->awaited.load() > 0 &&
         std::chrono::steady_clock::now() < end) {
    receive(10, batch);
  }
}

void Receiver::take_waiting(std::vector<mad::Received>& batch) {
  while (batch.size() < kBatch && umad_poll(descriptor_, 0) == 0 && receive(0, batch)) {
  }
  const auto ahead = delivery_->ahead.get();
  if (!ahead) return;
  if (!std::exchange(answers_, true)) base::wake_at_once();
  (*ahead)(batch,
           [this](std::span<const std::uint8_t> mad, const mad::LidRoute& to) { return reply(mad, to); });
}

bool Receiver::receive(int milliseconds, std::vector<mad::Received>& batch) {
  auto* umad = buffer_.data();
  int length = static_cast<int>(buffer_.size() * 8 - umad_size());
  const int agent = umad_recv(descriptor_, umad, &length, milliseconds);
  if (agent == -ENOSPC && length > 0) {  // a long MAD stays in the kernel's queue until there is room
    buffer_.resize(words(static_cast<std::size_t>(length)));
    return false;
  }
  if (agent < 0) {
    // -EAGAIN as umad2sim's read returns it, with errno unset, comes out of libibumad the same.
    const bool nothing = agent == -ETIMEDOUT || agent == -EAGAIN || agent == -EINTR || errno == EINTR;
    if (!nothing) failed(-agent);
    return false;
  }
  failures_ = 0;
  delivery_->last_received.store(std::chrono::steady_clock::now());
  const auto* bytes = static_cast<const std::uint8_t*>(umad_get_mad(umad));
  auto& received = batch.emplace_back();
  const bool is_answer = length > 3 && wire::is_answer(static_cast<wire::Method>(bytes[3]));
  const auto longest = is_answer && umad_status(umad) == 0 ? kLongestAnswer : kLongest;
  received.bytes.assign(bytes, bytes + std::clamp<std::int64_t>(length, 0, longest + 1));
  received.from = from_of(umad);
  received.error = umad_status(umad);
  const bool answers = received.error != 0 || is_answer;
  if (answers && !answer_that_ended(received)) --delivery_->awaited;
  // What a long MAD has taken is given back.
  if (buffer_.size() > words(kLongest)) buffer_ = std::vector<std::uint64_t>(words(wire::kMadBytes));
  return true;
}

/// False where it could not be sent: then the sink gets the question.
bool Receiver::reply(std::span<const std::uint8_t> mad, const mad::LidRoute& to) {
  const int agent = mad.size() < 2 ? -1 : delivery_->agents.of(mad[1]);
  if (agent < 0) return false;
  fill(reply_, mad, to);
  return umad_send(descriptor_, agent, reply_.data(), static_cast<int>(mad.size()), 0, 0) == 0;
}

void Receiver::deliver(const std::stop_token& stop, std::vector<mad::Received> batch) {
  while (!delivery_->room.try_acquire_for(kLook)) {
    if (stop.stop_requested()) return;
    // The io_context has more to do than what is received: who can be answered here does not wait for that.
    if (batch.size() >= kWaiting) continue;
    std::vector<mad::Received> more;
    take_waiting(more);
    std::ranges::move(more, std::back_inserter(batch));
  }
  asio::post(io_, [delivery = delivery_, batch = std::move(batch)]() mutable {
    delivery->give(std::move(batch));
    delivery->room.release();
  });
}

void Receiver::failed(int error) {
  // One failure may be chance (umad2sim reports a spurious wake-up as EIO); a device that is gone fails
  // every time.
  poll(nullptr, 0, kPauseMs);
  if (++failures_ >= kFailures) delivery_->broken.store(error);
}

}  // namespace smd::umad
