// SPDX-License-Identifier: Apache-2.0
#pragma once
// The receiving side of a descriptor: a thread that blocks in libibumad and posts batches.

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <semaphore>
#include <span>
#include <thread>
#include <vector>

#include "mad/asio.h"
#include "mad/base/published.h"
#include "mad/transport.h"
#include "mad/umad/answers.h"

namespace smd::umad {

/// libibumad's numbers of the agents of a descriptor, by management class. From any thread.
class Agents {
 public:
  /// -1: the class is not registered.
  int of(std::uint8_t mgmt_class) const { return ids_[mgmt_class].load() - 1; }
  /// -1: the class is not registered.
  void set(std::uint8_t mgmt_class, int agent) { ids_[mgmt_class].store(agent + 1); }

 private:
  std::array<std::atomic<int>, 256> ids_{};  ///< one more than the number; 0: none
};

/// Shared by the receiver's thread and the io_context; outlives both by what is still posted.
struct Delivery {
  static constexpr std::ptrdiff_t kBatches = 64;
  /// `batches`: posted and not yet dealt with, at most; then MADs wait in the kernel's list of this
  /// descriptor, which has no bound, or of 200,000 (user_mad.c, MAX_UMAD_RECV_LIST_SIZE): the 512 receive
  /// buffers of the queue pair are posted again whether we read or not. 1 to kBatches.
  explicit Delivery(std::ptrdiff_t batches) : room(batches) {}
  mad::Transport::Sink sink;      ///< io_context only
  mad::Transport::Sink gsi_sink;  ///< io_context only; none: `sink` gets all classes
  /// Passes a batch to the sinks: SMPs to `sink`, the rest to `gsi_sink` if set. A batch without a sink is
  /// dropped. On the io_context's thread.
  void give(std::vector<mad::Received> batch);
  base::Published<mad::Transport::Ahead> ahead;
  Agents agents;
  std::counting_semaphore<kBatches> room;
  std::atomic<int> broken{0};  ///< errno with which the descriptor died
  std::atomic<std::chrono::steady_clock::time_point> last_received{std::chrono::steady_clock::now()};
  std::atomic<std::int64_t> awaited{0};  ///< sends with an answer to come, as far as we know
  AnswersUnderWay answers;               ///< io_context only; of an emulation there are none
};

class Receiver {
 public:
  static constexpr std::size_t kBatch = 64;

  /// Starts at once. The descriptor stays open until this is gone.
  Receiver(asio::io_context& io, int descriptor, std::shared_ptr<Delivery> delivery);
  /// Waits for the thread: 100 ms at most, and as long again where answers are still awaited.
  ~Receiver();

 private:
  void run(const std::stop_token& stop);
  /// One MAD, waiting `milliseconds` for it at most; false where none came.
  bool receive(int milliseconds, std::vector<mad::Received>& batch);
  /// What waits in the kernel's queue, up to kBatch, less what `ahead` has answered.
  void take_waiting(std::vector<mad::Received>& batch);
  bool reply(std::span<const std::uint8_t> mad, const mad::LidRoute& to);
  void deliver(const std::stop_token& stop, std::vector<mad::Received> batch);
  void failed(int error);

  asio::io_context& io_;
  int descriptor_;
  std::shared_ptr<Delivery> delivery_;
  std::vector<std::uint64_t> buffer_, reply_;
  unsigned failures_ = 0;
  bool answers_ = false;  ///< the thread has been asked to
  std::jthread thread_;
};

}  // namespace smd::umad
