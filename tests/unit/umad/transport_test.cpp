// SPDX-License-Identifier: Apache-2.0
// What the kernel is given and gives back, by a libibumad of our own in libibumad's place.
#include "mad/umad/transport.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <infiniband/umad.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "mad/umad/answers.h"
#include "mad/wire/sa/sa_mad.h"

namespace smd::umad {
namespace {

struct Sent {
  std::vector<std::uint8_t> mad;
  std::uint16_t lid = 0;  ///< network order
  int timeout = 0, retries = 0;
};

/// Of the one device that these tests open.
struct Kernel {
  std::mutex lock;
  std::condition_variable more;
  std::vector<Sent> sent;
  std::deque<std::vector<std::uint8_t>> inbox;  ///< struct ib_user_mad and MAD
  std::size_t largest_buffer = 0, last_buffer = 0;
  int refuses = 0;  ///< the errno of each send; 0: it takes them
  bool no_smi = false;
  std::vector<std::pair<int, std::uint64_t>> registered;  ///< class and methods
};
Kernel& kernel() {
  static Kernel one;
  return one;
}

}  // namespace
}  // namespace smd::umad

using smd::umad::kernel;

extern "C" int umad_open_port(const char*, int) { return ::open("/dev/null", O_RDWR | O_CLOEXEC); }
extern "C" int umad_close_port(int descriptor) { return ::close(descriptor); }
/// As of firmware that does not answer.
extern "C" int umad_get_port(const char*, int, umad_port_t*) {
  std::this_thread::sleep_for(std::chrono::seconds(2));
  return -EIO;
}
extern "C" int umad_register(int, int mgmt_class, int, uint8_t, long* methods) {
  const std::scoped_lock guard(kernel().lock);
  kernel().registered.emplace_back(mgmt_class, static_cast<std::uint64_t>(methods[0]));
  if (!kernel().no_smi || mgmt_class == 3) return 0;
  errno = EPROTONOSUPPORT;
  return -EPROTONOSUPPORT;
}
extern "C" int umad_send(int, int, void* umad, int length, int timeout, int retries) {
  const std::scoped_lock guard(kernel().lock);
  if (kernel().refuses != 0) {
    errno = kernel().refuses;
    return -1;
  }
  const auto* mad = static_cast<const std::uint8_t*>(umad_get_mad(umad));
  kernel().sent.push_back({{mad, mad + length}, umad_get_mad_addr(umad)->lid, timeout, retries});
  return 0;
}
extern "C" int umad_poll(int, int) {
  const std::scoped_lock guard(kernel().lock);
  return kernel().inbox.empty() ? -ETIMEDOUT : 0;
}
extern "C" int umad_recv(int, void* umad, int* length, int milliseconds) {
  std::unique_lock guard(kernel().lock);
  kernel().more.wait_for(guard, std::chrono::milliseconds(milliseconds),
                         [] { return !kernel().inbox.empty(); });
  const auto room = static_cast<std::size_t>(*length);
  kernel().last_buffer = room;
  kernel().largest_buffer = std::max(kernel().largest_buffer, room);
  if (kernel().inbox.empty()) return -ETIMEDOUT;
  const auto& first = kernel().inbox.front();
  *length = static_cast<int>(first.size() - umad_size());
  if (room < first.size() - umad_size()) return -ENOSPC;
  std::memcpy(umad, first.data(), first.size());
  kernel().inbox.pop_front();
  return 0;
}

namespace smd::umad {
namespace {

struct UmadTransport : testing::Test {
  asio::io_context io;
  asio::executor_work_guard<asio::io_context::executor_type> goes_on = asio::make_work_guard(io);
  std::unique_ptr<Transport> transport;
  std::vector<mad::Received> got;

  UmadTransport() {
    kernel().sent.clear();
    kernel().inbox.clear();
    kernel().largest_buffer = 0;
    kernel().refuses = 0;
    transport = std::move(*Transport::open(io, {.device = "fake0", .port = PortNum{1}}, gsi_classes()));
    transport->on_receive(
        [this](std::span<mad::Received> batch) { got.insert(got.end(), batch.begin(), batch.end()); });
  }

  static std::vector<std::uint8_t> answer(std::uint64_t tid, std::size_t bytes, bool rmpp = true) {
    std::vector<std::uint8_t> mad(bytes);
    wire::encode(wire::MadHeader{.mgmt_class = wire::MgmtClass::sa,
                                 .class_version = 2,
                                 .method = rmpp ? wire::Method::get_table_resp : wire::Method::get_resp,
                                 .tid = Tid{tid}},
                 mad);
    if (rmpp) {
      wire::encode(wire::RmppHeader{.version = 1, .type = wire::RmppType::data, .active = true},
                   std::span(mad).subspan(wire::kRmppOffset));
    }
    return mad;
  }
  int send(std::uint64_t tid, Lid lid, std::size_t bytes) {
    const auto sent = transport->send(answer(tid, bytes), mad::LidRoute{.lid = lid, .qp = 1}, {});
    return sent ? 0 : sent.error().error;
  }
  /// As the kernel gives back an answer that is at its end.
  void ends(std::size_t index) {
    const auto& one = kernel().sent.at(index);
    std::vector<std::uint8_t> back(umad_size() + 24);
    umad_get_mad_addr(back.data())->lid = one.lid;
    reinterpret_cast<ib_user_mad_t*>(back.data())->status = ETIMEDOUT;
    std::copy_n(one.mad.begin(), 24, back.begin() + static_cast<std::ptrdiff_t>(umad_size()));
    give(std::move(back));
  }
  void give(std::vector<std::uint8_t> umad) {
    {
      const std::scoped_lock guard(kernel().lock);
      kernel().inbox.push_back(std::move(umad));
    }
    kernel().more.notify_all();
    const auto before = got.size();
    for (int i = 0; i < 500 && got.size() == before; ++i) io.run_for(std::chrono::milliseconds(10));
    ASSERT_GT(got.size(), before);
  }
};

constexpr std::size_t kTable = 100'000;

TEST_F(UmadTransport, AnAnswerByRmppIsSentAgainFor6SecondsAfter200MillisecondsEach) {
  ASSERT_EQ(send(1, Lid{7}, kTable), 0);
  ASSERT_TRUE(transport->send(answer(2, 256, false), mad::LidRoute{.lid = Lid{7}, .qp = 1}, {}));

  ASSERT_EQ(kernel().sent.size(), 2U);
  EXPECT_EQ(kernel().sent[0].timeout, 200);
  EXPECT_EQ(kernel().sent[0].retries, 29);
  EXPECT_EQ(kernel().sent[1].timeout, 0);
  EXPECT_EQ(kernel().sent[1].retries, 0);
}

TEST_F(UmadTransport, AnAnswerThatIsUnderWayAlreadyIsNoError) {
  const mad::LidRoute to{.lid = Lid{7}, .qp = 1};
  kernel().refuses = EINVAL;
  EXPECT_EQ(send(1, Lid{7}, kTable), 0);
  EXPECT_TRUE(transport->send(answer(2, 256, false), to, {}));
  auto request = answer(3, 256, false);
  request[3] = static_cast<std::uint8_t>(wire::Method::get);
  EXPECT_EQ(transport->send(request, to, std::chrono::seconds(1)).error().error, EINVAL);
  kernel().refuses = ENOMEM;
  EXPECT_EQ(send(1, Lid{7}, kTable), ENOMEM);
}

/// They stay for 200 ms after their last acknowledgement: a limit on their number would be one on the rate.
TEST_F(UmadTransport, AnswersUnderWayAreCountedByTheirBytes) {
  for (std::uint64_t tid = 0; tid < 500; ++tid) ASSERT_EQ(send(tid, Lid{7}, kTable), 0);
}

TEST_F(UmadTransport, OneClientHasAQuarterOfTheAnswersUnderWay) {
  constexpr std::size_t kQuarter = std::size_t{64} << 20U;
  ASSERT_EQ(send(0, Lid{7}, kQuarter + 56), 0) << "one answer, however long it is";
  EXPECT_EQ(send(1, Lid{7}, 1'000), EAGAIN);
  EXPECT_EQ(send(2, Lid{8}, kTable), 0);

  ends(0);
  EXPECT_EQ(send(1, Lid{7}, kTable), 0);
}

TEST_F(UmadTransport, AnswersUnderWayHave256MiBTogether) {
  constexpr std::size_t kLongest = std::size_t{64} << 20U;
  for (std::uint16_t i = 0; i < 4; ++i) ASSERT_EQ(send(i, Lid{i}, kLongest), 0);
  EXPECT_EQ(send(9, Lid{9}, 1'000), EAGAIN);
  ends(1);
  EXPECT_EQ(send(9, Lid{9}, kLongest), 0);
}

/// The thread that receives sets it at any time.
std::size_t buffer(std::size_t Kernel::* which) {
  const std::scoped_lock guard(kernel().lock);
  return kernel().*which;
}

TEST_F(UmadTransport, APortWithoutSmiIsNamed) {
  kernel().no_smi = true;
  const auto opened = Transport::open(io, {.device = "fake1", .port = PortNum{1}}, smi_classes());
  kernel().no_smi = false;
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().error, EPROTONOSUPPORT);
  EXPECT_EQ(opened.error().what, "port fake1:1 has no SMI: it cannot send SMPs");
}

TEST_F(UmadTransport, SubnetAdministrationLeavesReportsAndTrapsOfItsClassToOthers) {
  const auto bit = [](wire::Method method) { return std::uint64_t{1} << std::to_underlying(method); };
  const auto [mgmt_class, methods] = kernel().registered.back();
  EXPECT_EQ(mgmt_class, 3);
  EXPECT_EQ(methods, bit(wire::Method::get) | bit(wire::Method::set) | bit(wire::Method::get_table) |
                         bit(wire::Method::get_trace_table) | bit(wire::Method::get_multi) |
                         bit(wire::Method::remove));
}

TEST_F(UmadTransport, AClassIsRegisteredWhenItIsUsed) {
  const mad::ClassRegistration registration{.mgmt_class = wire::MgmtClass::perf};
  kernel().registered.clear();
  EXPECT_TRUE(transport->add_class(registration));
  EXPECT_TRUE(transport->add_class(registration)) << "once is enough";
  EXPECT_EQ(kernel().registered.size(), 1U);
  const auto perf = std::ranges::find(kernel().registered, 4, &std::pair<int, std::uint64_t>::first);
  ASSERT_NE(perf, kernel().registered.end());
  EXPECT_EQ(perf->second, 0U);
  std::vector<std::uint8_t> mad(wire::kMadBytes);
  wire::encode(wire::MadHeader{.mgmt_class = wire::MgmtClass::perf, .method = wire::Method::get}, mad);
  EXPECT_TRUE(transport->send(mad, mad::LidRoute{.lid = Lid{7}, .qp = 1}, std::chrono::milliseconds(100)));
  mad[1] = 0x30;
  const auto unknown =
      transport->send(mad, mad::LidRoute{.lid = Lid{7}, .qp = 1}, std::chrono::milliseconds(100));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().error, EPROTONOSUPPORT);
}

TEST_F(UmadTransport, ALookAtThePortDoesNotWaitForItsFirmware) {
  const auto begin = std::chrono::steady_clock::now();
  static_cast<void>(transport->local());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
}

TEST_F(UmadTransport, ALongRequestLeavesNoLongBuffer) {
  std::vector<std::uint8_t> request(umad_size() + 100'000'000);
  give(request);
  EXPECT_EQ(got.at(0).bytes.size(), 65'537U) << "enough to see that it is too long";
  EXPECT_GE(buffer(&Kernel::largest_buffer), 100'000'000U);
  give(std::vector<std::uint8_t>(umad_size() + 256));
  EXPECT_LE(buffer(&Kernel::last_buffer), 300U);
}

}  // namespace
}  // namespace smd::umad
