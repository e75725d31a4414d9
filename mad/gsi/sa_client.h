// SPDX-License-Identifier: Apache-2.0
#pragma once
// A client of another subnet administration, over the GSI of our own port.

#include <chrono>
#include <cstdint>
#include <expected>
#include <vector>

#include "mad/asio.h"
#include "mad/clock.h"
#include "mad/gsi/sa_records.h"
#include "mad/transactions/transactions.h"
#include "mad/transport.h"

namespace smd::mad {

/// A GetTable: which records, and of which SA.
struct SaQuery {
  LidRoute to{};  ///< qp 1, qkey kQp1QKey
  std::uint16_t attribute = 0;
  std::uint64_t mask = 0;              ///< components of `record` that count
  std::vector<std::uint8_t> record{};  ///< kSaDataBytes at most
  std::size_t least = 0;               ///< bytes of an answer's record that are read
  std::uint64_t sm_key = 0;            ///< 0: none is shown
  /// Of each try; an answer in many packets (RMPP) has to be here in this time, too.
  std::chrono::milliseconds wait{};
  unsigned tries = 1;  ///< kSaTries at most
};
inline constexpr unsigned kSaTries = 3;

/// On the io_context's thread, as the receiver of `gsi`; Clock and Transport outlive it. All coroutines that
/// wait have ended before it dies. Answers come as whole MADs: the kernel joins the packets.
class SaClient {
 public:
  /// `seed`: where the transaction numbers start. Two clients on one port should differ in it.
  SaClient(const asio::any_io_executor& executor, Clock& clock, Transport& gsi, std::uint64_t seed)
      : tx_(executor, clock, gsi, Policy{.retries = kSaTries - 1}, seed) {}

  /// The records, or why there are none.
  asio::awaitable<std::expected<SaRecords, SaError>> get_table(SaQuery query);

 private:
  Transactions tx_;
};

}  // namespace smd::mad
