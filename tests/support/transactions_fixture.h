// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the tests of Transactions share: a far end that the test scripts, on virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <optional>
#include <vector>

#include "mad/transactions/route.h"
#include "mad/transactions/transactions.h"
#include "mad/virtual_clock.h"
#include "mad/wire/attributes.h"
#include "tests/support/scripted_transport.h"

namespace smd::mad {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::SizeIs;

inline DirectedPath path(std::initializer_list<int> ports) {
  DirectedPath path;
  for (const int port : ports) path = *path.then(PortNum{static_cast<std::uint8_t>(port)});
  return path;
}

inline Request node_info(Guid node = Guid{}, DirectedPath by = path({1})) {
  return {.mad = wire::Smp::lid_routed(wire::Method::get, wire::NodeInfo::kAttribute, 0),
          .route = by,
          .node = node};
}

/// A Transactions over a far end that the test scripts, on virtual time.
class TransactionsTest : public ::testing::Test {
 protected:
  Transactions& make(Policy policy = {}) { return tx.emplace(io.get_executor(), clock, wire, policy, 1); }
  /// Submits and keeps the answer.
  Transactions::RequestId ask(Request request) {
    const auto index = answers.size();
    answers.emplace_back();
    return tx->submit(std::move(request), [this, index](Answer answer) {
      EXPECT_FALSE(answers[index]) << "answered twice";
      answers[index] = std::move(answer);
    });
  }
  void run() {
    do {
      io.restart();
      io.poll();
    } while (clock.advance());
  }
  Duration at(std::size_t sent) const { return wire.sent.at(sent).at.time_since_epoch(); }

  asio::io_context io;
  VirtualClock clock;
  ScriptedTransport wire{clock};
  std::optional<Transactions> tx;
  std::vector<std::optional<Answer>> answers;
};

}  // namespace smd::mad
