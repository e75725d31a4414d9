// SPDX-License-Identifier: Apache-2.0
#pragma once
// What clients have asked of subnet administration, and how long the answers took.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "mad/base/tally.h"
#include "mad/wire/mad.h"

namespace smd::sa {

/// Requests by attribute, method and status, each of a fixed set with a place for all others. One thread
/// counts, without memory or a lock; any thread reads.
class RequestCounts {
 public:
  static constexpr std::size_t kAttributes = 23, kMethods = 7, kStatuses = 14;
  /// Upper bounds of the classes of answer times, in nanoseconds; what takes longer is in one more.
  static constexpr std::array<std::uint64_t, 12> kBounds{
      10'000,     50'000,      100'000,     500'000,       1'000'000,     5'000'000,
      10'000'000, 100'000'000, 500'000'000, 1'000'000'000, 2'000'000'000, 10'000'000'000};

  RequestCounts() = default;
  RequestCounts(const RequestCounts&) = delete;
  RequestCounts& operator=(const RequestCounts&) = delete;

  /// The answer to such a request has left, so long after the request had come.
  void answered(std::uint16_t attribute, wire::Method method, std::uint16_t status,
                std::chrono::nanoseconds took);
  /// The request gets no answer.
  void unanswered(std::uint16_t attribute, wire::Method method);

 private:
  friend struct SaCounts;
  static std::size_t place(std::size_t attribute, std::size_t method, std::size_t status) {
    return (attribute * kMethods + method) * kStatuses + status;
  }

  std::array<base::Tally, kAttributes * kMethods * kStatuses> counts_;
  std::array<base::Tally, kBounds.size() + 1> took_;  ///< answers by their class of time
  base::Tally nanoseconds_;                           ///< of all answers together
};

/// One subnet's. Two threads answer: the one that receives what one lookup answers, and the server's.
struct SaCounts {
  RequestCounts at_receiver, at_server;

  /// "PathRecord", "GetTable", "ok"; what is not of the fixed set is "other".
  struct Row {
    std::string_view attribute, method, status;
    std::uint64_t count = 0;
  };
  /// Both together, without rows of 0; in a fixed order.
  std::vector<Row> rows() const;

  struct Times {
    std::array<std::uint64_t, RequestCounts::kBounds.size() + 1> took{};  ///< as in RequestCounts
    double seconds = 0;                                                   ///< of all answers together
  };
  /// Answer times of both together. From any thread.
  Times times() const;
};

}  // namespace smd::sa
