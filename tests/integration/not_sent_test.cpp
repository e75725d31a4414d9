// SPDX-License-Identifier: Apache-2.0
// A MAD that the local side refuses for good (EINVAL of a send) tells of the node that it was for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "mad/wire/smp.h"
#include "smd/sweep/heavy_sweep.h"
#include "tests/support/managed_world.h"

namespace smd {
namespace {

/// Refuses what goes through this port of ours and then that one.
class Refusing final : public mad::Transport {
 public:
  explicit Refusing(std::unique_ptr<mad::Transport> inner) : inner_(std::move(inner)) {}
  void on_receive(Sink sink) override { inner_->on_receive(std::move(sink)); }
  std::expected<void, mad::TransportError> send(std::span<const std::uint8_t> mad, const mad::Route& route,
                                                std::chrono::milliseconds give_up) override {
    const auto* path = std::get_if<mad::DirectedPath>(&route);
    if (path != nullptr && path->hops() == 2 && path->hop(1) == PortNum{2})
      return std::unexpected(mad::TransportError{EINVAL, "refused"});
    return inner_->send(mad, route, give_up);
  }
  std::expected<mad::LocalPort, mad::TransportError> local() const override { return inner_->local(); }

 private:
  std::unique_ptr<mad::Transport> inner_;
};

asio::awaitable<sm::Subnet> discovered(mad::Transactions* tx, mad::Clock* clock) {
  auto found = co_await sm::heavy_sweep(tx, clock, nullptr, {});
  co_return std::move(*found);
}

TEST(NotSent, ANodeThatIsNotAskedForGoodIsUnresponsiveWithTheReason) {
  sim::World world(test::spec("ft2:4"));
  Refusing transport(world.transport());
  mad::Transactions tx(world.io().get_executor(), world.clock(), transport, {}, 3);

  const auto subnet = world.run(discovered(&tx, &world.clock()));

  ASSERT_EQ(subnet.unresponsive.size(), 1U);
  EXPECT_THAT(subnet.unresponsive.front().reason, testing::HasSubstr("cannot send: Invalid argument"));
}

}  // namespace
}  // namespace smd
