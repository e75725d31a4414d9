// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace smd::mad {

/// The caller of requests whose tries it sends itself, in an order of its own (Transactions::open_paced).
/// Called on the io_context's thread; it may open, try and drop requests in each call.
class Pacer {
 public:
  Pacer() = default;
  Pacer(const Pacer&) = delete;
  Pacer& operator=(const Pacer&) = delete;
  /// An answer to one of its tries has come, with any status: the request is over.
  virtual void on_answer(std::uint64_t id) = 0;
  /// The last try was not answered in its time. The request stays open for answers to all of its tries.
  virtual void on_unanswered(std::uint64_t id) = 0;
  /// After the calls of on_unanswered() that were due together.
  virtual void on_settled() = 0;

 protected:
  ~Pacer() = default;
};

}  // namespace smd::mad
