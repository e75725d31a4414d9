// SPDX-License-Identifier: Apache-2.0
// A warm pool answers without allocating: a cold bring-up of 48 thousand nodes is millions of requests.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "mad/transactions/ask.h"
#include "mad/virtual_clock.h"
#include "mad/wire/attributes.h"

namespace {
std::atomic<std::size_t> allocations{0};
}  // namespace

// Counted for this whole test program; sanitizers bring operators of their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !__has_feature(address_sanitizer) && \
    !__has_feature(thread_sanitizer)
constexpr bool kCounting = true;
void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  std::abort();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#else
constexpr bool kCounting = false;
#endif

namespace smd::mad {
namespace {

/// Answers all that was sent when told to; its own buffers are warm after the first round.
class Echo final : public Transport {
 public:
  void on_receive(Sink sink) override { sink_ = std::move(sink); }
  std::expected<void, TransportError> send(std::span<const std::uint8_t> mad, const Route&,
                                           std::chrono::milliseconds) override {
    if (count_ == batch_.size()) batch_.emplace_back().bytes.resize(256);
    const auto reply = wire::Smp::from_bytes(mad)->response();
    std::copy_n(reply.bytes().begin(), 256, batch_[count_++].bytes.begin());
    return {};
  }
  std::expected<LocalPort, TransportError> local() const override { return LocalPort{}; }
  std::size_t flush() {
    batch_.swap(flying_);
    const auto count = std::exchange(count_, 0);
    if (count > 0) sink_({flying_.data(), count});
    return count;
  }

 private:
  Sink sink_;
  std::vector<Received> batch_, flying_;
  std::size_t count_ = 0;
};

constexpr std::size_t kRequests = kCounting ? 300'000 : 20'000;

struct Load {
  asio::io_context io;
  VirtualClock clock;
  Echo echo;
  Transactions tx{io.get_executor(), clock, echo, Policy{}, 1};
  std::size_t left = 0, done = 0;

  void next() {
    if (left == 0) return;
    const Target target{.route = DirectedPath{}, .node = Guid{left-- % 500 + 1}, .m_key = 0};
    tx.submit(get_request<wire::NodeInfo>(target), [this](Answer answer) {
      done += answer ? 1U : 0U;
      next();
    });
  }
  void run(std::size_t requests) {
    left = requests;
    done = 0;
    for (int i = 0; i < 300; ++i) next();
    while (echo.flush() > 0) {
    }
    EXPECT_EQ(done, requests);
  }
};

TEST(TransactionsCost, AWarmPoolAllocatesNothing) {
  if (!kCounting) GTEST_SKIP() << "sanitizers count for themselves";
  Load load;
  load.run(20'000);
  const auto before = allocations.load();

  load.run(20'000);

  EXPECT_EQ(allocations.load() - before, 0U);
}

TEST(TransactionsCost, NanosecondsARequest) {  // a figure to read, not a bound: machines differ
  Load load;
  load.run(20'000);
  const auto start = std::chrono::steady_clock::now();
  load.run(kRequests);
  const auto each = (std::chrono::steady_clock::now() - start) / kRequests;
  std::printf("%lld ns a request, its echo included\n", static_cast<long long>(each.count()));
  RecordProperty("ns_a_request", static_cast<int>(each.count()));
}

asio::awaitable<void> ask_many(Load* load, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const Target target{.route = DirectedPath{}, .node = Guid{i % 500 + 1}, .m_key = 0};
    const auto answer = co_await get<wire::NodeInfo>(load->tx, target);
    load->done += answer ? 1U : 0U;
  }
}

TEST(TransactionsCost, NanosecondsARequestByCoroutine) {
  Load load;
  constexpr std::size_t kEach = kRequests / 250;
  for (int i = 0; i < 250; ++i)
    asio::co_spawn(load.io, ask_many(&load, kEach), [](const std::exception_ptr&) {});
  const auto start = std::chrono::steady_clock::now();
  const auto before = allocations.load();
  do {
    load.io.restart();
    load.io.poll();
  } while (load.echo.flush() > 0);
  const auto each = (std::chrono::steady_clock::now() - start) / kRequests;
  EXPECT_EQ(load.done, kRequests);
  std::printf("%lld ns and %.2f allocations a request by coroutine\n", static_cast<long long>(each.count()),
              static_cast<double>(allocations.load() - before) / kRequests);
}

}  // namespace
}  // namespace smd::mad
