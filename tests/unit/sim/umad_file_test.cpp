// SPDX-License-Identifier: Apache-2.0
// What the kernel does for a program at a umad device: agents, time-outs, RMPP, dispatch.
#include "mad/sim/umad_server/umad_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "mad/sim/packets/rmpp_transfer.h"
#include "mad/sim/umad_server/umad_header.h"
#include "mad/wire/mad.h"
#include "tests/support/sim_lab.h"

namespace smd::test {
namespace {

using std::chrono::milliseconds;

struct UmadFile : testing::Test {
  sim::World world{two_leaves(), sim::Options{}};  // without delays
  Asker smi{world};
  sim::Fabric& fabric = world.fabric();
  sim::UmadFile file{fabric, *fabric.find({"h0"})};
  sim::UmadFile other{fabric, *fabric.find({"h1"})};
  mad::TimePoint now{};

  UmadFile() {
    bring_up_two_leaves(smi);
    now = fabric.state().now;
    EXPECT_TRUE(file.enable_pkey());
    EXPECT_TRUE(other.enable_pkey());
  }

  static sim::Registration sa(bool rmpp, std::uint64_t methods = 0) {
    return {.mgmt_class = 3, .version = 2, .methods = {methods, 0}, .rmpp = rmpp};
  }
  static constexpr std::uint64_t bit(unsigned method) { return std::uint64_t{1} << method; }

  struct Send {
    std::uint32_t agent = 0;
    Lid to{2};
    std::uint8_t mgmt_class = 3, method = 1;
    std::uint32_t tid = 7, timeout_ms = 0, retries = 0;
    std::uint64_t upper_tid = 0;
    std::size_t length = 256;
    bool rmpp = false;
  };
  static std::vector<std::uint8_t> umad(const Send& send) {
    auto bytes = sim::write_header({.agent = send.agent,
                                    .timeout_ms = send.timeout_ms,
                                    .retries = send.retries,
                                    .address = {.lid = send.to, .qp = 1}},
                                   sim::kUmadHeader);
    bytes[24] = 0x80;  // the Q_Key, which the kernel does not write
    bytes[25] = 0x01;
    std::vector<std::uint8_t> mad(send.length, 0x55);
    mad.resize(std::max<std::size_t>(send.length, 24));
    wire::encode(wire::MadHeader{.mgmt_class = static_cast<wire::MgmtClass>(send.mgmt_class),
                                 .class_version = 2,
                                 .method = static_cast<wire::Method>(send.method),
                                 .tid = Tid{send.upper_tid | send.tid}},
                 std::span(mad).first(24));
    for (std::size_t i = 24; i < std::min<std::size_t>(mad.size(), 36); ++i) mad[i] = 0;
    if (send.rmpp) mad[24] = mad[25] = mad[26] = 1;
    mad.resize(send.length);
    bytes.insert(bytes.end(), mad.begin(), mad.end());
    return bytes;
  }
  static sim::UmadHeader header(const sim::UmadMessage& message) {
    return *sim::read_header(message, sim::kUmadHeader);
  }
  static wire::MadHeader mad_of(const sim::UmadMessage& message) {
    return *wire::decode<wire::MadHeader>(std::span(message).subspan(sim::kUmadHeader));
  }
  void pass(milliseconds time) { fabric.advance(now += time); }
};

TEST_F(UmadFile, ASendWithoutAnswerComesBackAfterAllItsRetriesAndNotBefore) {
  const auto agent = file.add_agent(sa(false)).value();
  ASSERT_TRUE(file.write(umad({.agent = agent, .to = Lid{40}, .timeout_ms = 100, .retries = 2}), now));

  pass(milliseconds(299));
  EXPECT_THAT(file.take(), testing::IsEmpty());
  pass(milliseconds(1));

  const auto back = file.take();
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(header(back[0]).status, static_cast<std::uint32_t>(ETIMEDOUT));
  EXPECT_EQ(header(back[0]).agent, agent);
  EXPECT_EQ(back[0].size(), sim::kUmadHeader + 24);
  EXPECT_EQ(mad_of(back[0]).tid.value() & 0xFFFF'FFFFU, 7U);
}

TEST_F(UmadFile, EachTryReachesTheOtherEnd) {
  const auto asks = file.add_agent(sa(false)).value();
  ASSERT_TRUE(other.add_agent(sa(false, bit(1))));
  ASSERT_TRUE(file.write(umad({.agent = asks, .timeout_ms = 100, .retries = 2}), now));

  pass(milliseconds(250));

  EXPECT_EQ(other.take().size(), 3U);
}

TEST_F(UmadFile, AnAnswerEndsTheWaitAndOnlyTheFirstIsGiven) {
  const auto asks = file.add_agent(sa(false)).value();
  const auto answers = other.add_agent(sa(false, bit(1))).value();
  ASSERT_TRUE(file.write(umad({.agent = asks, .timeout_ms = 100, .retries = 1}), now));
  const auto asked = other.take();
  ASSERT_EQ(asked.size(), 1U);
  const auto tid = mad_of(asked[0]).tid.value();

  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(other.write(
        umad({.agent = answers, .to = Lid{1}, .method = 0x81, .tid = 7, .upper_tid = tid & ~0xFFFF'FFFFULL}),
        now));

  const auto got = file.take();
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(header(got[0]).status, 0U);
  EXPECT_EQ(header(got[0]).address.lid, Lid{2});
  EXPECT_EQ(header(got[0]).length, got[0].size());
  pass(milliseconds(1000));
  EXPECT_THAT(file.take(), testing::IsEmpty());
}

TEST_F(UmadFile, AnAnswerToASendWithoutTimeOutIsDropped) {
  const auto asks = file.add_agent(sa(false)).value();
  const auto answers = other.add_agent(sa(false, bit(1))).value();
  ASSERT_TRUE(file.write(umad({.agent = asks}), now));
  const auto tid = mad_of(other.take().at(0)).tid.value();

  ASSERT_TRUE(other.write(
      umad({.agent = answers, .to = Lid{1}, .method = 0x81, .tid = 7, .upper_tid = tid & ~0xFFFF'FFFFULL}),
      now));

  EXPECT_THAT(file.take(), testing::IsEmpty());
}

TEST_F(UmadFile, TheUpperHalfOfARequestsTidIsTheAgentsAndThatOfAnAnswerStays) {
  const auto one = file.add_agent(sa(false)).value(), two = file.add_agent(sa(false)).value();
  ASSERT_TRUE(other.add_agent(sa(false, bit(1))));
  ASSERT_TRUE(file.write(umad({.agent = one, .upper_tid = 0xDEAD'0000'0000'0000ULL}), now));
  ASSERT_TRUE(file.write(umad({.agent = two}), now));

  const auto got = other.take();

  ASSERT_EQ(got.size(), 2U);
  EXPECT_NE(mad_of(got[0]).tid, mad_of(got[1]).tid);
  EXPECT_NE(mad_of(got[0]).tid.value() >> 48U, 0xDEADU);
  EXPECT_EQ(mad_of(got[0]).tid.value() & 0xFFFF'FFFFU, 7U);
}

TEST_F(UmadFile, TwoRequestsWithOneTidAreRefused) {
  const auto agent = file.add_agent(sa(false)).value();
  ASSERT_TRUE(file.write(umad({.agent = agent, .timeout_ms = 100}), now));

  EXPECT_EQ(file.write(umad({.agent = agent, .timeout_ms = 100}), now).error(), EINVAL);
}

TEST_F(UmadFile, AnAgentGetsTheClassVersionAndMethodsThatItAskedForAndNothingElse) {
  const auto asks = file.add_agent(sa(false)).value();
  const auto gets = other.add_agent(sa(false, bit(1))).value();
  const auto sets = other.add_agent(sa(false, bit(2))).value();
  ASSERT_TRUE(file.write(umad({.agent = asks, .method = 1, .tid = 1}), now));
  ASSERT_TRUE(file.write(umad({.agent = asks, .method = 2, .tid = 2}), now));
  ASSERT_TRUE(file.write(umad({.agent = asks, .method = 3, .tid = 3}), now));

  const auto got = other.take();

  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(header(got[0]).agent, gets);
  EXPECT_EQ(header(got[1]).agent, sets);
}

TEST_F(UmadFile, AMethodBelongsToOneAgentOfAPort) {
  ASSERT_TRUE(file.add_agent(sa(false, bit(1) | bit(2))));

  EXPECT_EQ(file.add_agent(sa(false, bit(2))).error(), EINVAL);
  EXPECT_TRUE(other.add_agent(sa(false, bit(2))));
}

TEST_F(UmadFile, RegistrationsThatTheKernelRefusesAreRefused) {
  using sim::Registration;
  EXPECT_FALSE(file.add_agent(Registration{.mgmt_class = 80, .version = 1}));
  EXPECT_FALSE(file.add_agent(Registration{.mgmt_class = 1, .version = 1}));  // on QP1
  EXPECT_FALSE(file.add_agent(Registration{.interface = sim::Interface::smi, .mgmt_class = 3, .version = 1}));
  EXPECT_FALSE(file.add_agent(Registration{.mgmt_class = 0x32, .version = 1}));  // without an OUI
  EXPECT_FALSE(file.add_agent(Registration{.mgmt_class = 4, .version = 1, .rmpp = true}));
  EXPECT_FALSE(file.add_agent(Registration{.mgmt_class = 3, .version = 0x83}));
  EXPECT_TRUE(file.add_agent(Registration{.mgmt_class = 0x32, .version = 1, .oui = 0x1405, .rmpp = true}));
}

TEST_F(UmadFile, AFileHas32Agents) {
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(file.add_agent(sa(false)), i);
  EXPECT_EQ(file.add_agent(sa(false)).error(), ENOMEM);
  ASSERT_TRUE(file.remove_agent(5));
  EXPECT_EQ(file.add_agent(sa(false)), 5U);
}

TEST_F(UmadFile, AMadOfSeveralSegmentsComesWholeToAnAgentWithRmpp) {
  const auto asks = file.add_agent(sa(true)).value();
  ASSERT_TRUE(other.add_agent(sa(true, bit(0x12))));
  constexpr std::size_t kLong = 3'000'000;
  ASSERT_TRUE(file.write(umad({.agent = asks, .method = 0x12, .length = kLong, .rmpp = true}), now));

  const auto got = other.take();

  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].size(), sim::kUmadHeader + kLong);
  EXPECT_EQ(header(got[0]).length, sim::kUmadHeader + kLong);
  EXPECT_EQ(got[0][sim::kUmadHeader + 26] & 7U, 3U);  // active, first, not the last
}

TEST_F(UmadFile, AnAnswerByRmppWithATimeOutComesBackWhenThatIsOver) {
  const auto asks = file.add_agent(sa(true)).value();
  const auto answers = other.add_agent(sa(true, bit(0x12))).value();
  ASSERT_TRUE(file.write(umad({.agent = asks, .method = 0x12, .timeout_ms = 5000}), now));
  const auto tid = mad_of(other.take().at(0)).tid.value();
  const Send answer{.agent = answers,
                    .to = Lid{1},
                    .method = 0x92,
                    .tid = 7,
                    .timeout_ms = 1000,
                    .retries = 5,
                    .upper_tid = tid & ~0xFFFF'FFFFULL,
                    .length = 100'000,
                    .rmpp = true};

  ASSERT_TRUE(other.write(umad(answer), now));
  EXPECT_EQ(file.take().size(), 1U);
  pass(milliseconds(999));
  EXPECT_THAT(other.take(), testing::IsEmpty());
  pass(milliseconds(1));

  const auto back = other.take();
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(header(back[0]).status, static_cast<std::uint32_t>(ETIMEDOUT));
  EXPECT_EQ(header(back[0]).address.lid, Lid{1});
  EXPECT_EQ(back[0].size(), sim::kUmadHeader + 24);
  EXPECT_EQ(mad_of(back[0]).tid.value(), tid);
}

TEST_F(UmadFile, AnAnswerByRmppIsRefusedWhileTheSameOneIsUnderWay) {
  const auto answers = file.add_agent(sa(true)).value();
  Send answer{.agent = answers, .method = 0x92, .timeout_ms = 1000, .length = 5000, .rmpp = true};
  ASSERT_TRUE(file.write(umad(answer), now));

  EXPECT_EQ(file.write(umad(answer), now).error(), EINVAL);
  answer.to = Lid{3};
  EXPECT_TRUE(file.write(umad(answer), now)) << "another client's question has the same transaction";
  answer.to = Lid{2};
  pass(milliseconds(1000));
  EXPECT_EQ(file.take().size(), 1U);
  EXPECT_TRUE(file.write(umad(answer), now));
}

/// How many of 50 answers of `bytes` reach a client that waits for long, and how many come back.
struct Lossy {
  unsigned whole = 0, back = 0;
  friend bool operator==(const Lossy&, const Lossy&) = default;
};

struct RmppLoss : UmadFile {
  static constexpr std::size_t kBytes = 50'000;  // 250 segments, 5 windows
  static constexpr unsigned kAnswers = 50;

  Lossy answered(double loss, std::uint32_t retries, std::uint32_t timeout_ms = 1000) {
    fabric.faults().rmpp_loss(loss);
    const auto asks = file.add_agent(sa(true)).value();
    const auto answers = other.add_agent(sa(true, bit(0x12))).value();
    Lossy result;
    for (std::uint32_t tid = 0; tid < kAnswers; ++tid) {
      EXPECT_TRUE(
          file.write(umad({.agent = asks, .method = 0x12, .tid = tid + 1, .timeout_ms = 100'000}), now));
    }
    for (const auto& asked : other.take()) {
      const Send answer{.agent = answers,
                        .to = Lid{1},
                        .method = 0x92,
                        .tid = static_cast<std::uint32_t>(mad_of(asked).tid.value()),
                        .timeout_ms = timeout_ms,
                        .retries = retries,
                        .upper_tid = mad_of(asked).tid.value() & ~0xFFFF'FFFFULL,
                        .length = kBytes,
                        .rmpp = true};
      EXPECT_TRUE(other.write(umad(answer), now));
    }
    for (int i = 0; i < 60; ++i) {
      pass(milliseconds(1000));
      for (const auto& got : file.take()) result.whole += got.size() == sim::kUmadHeader + kBytes ? 1U : 0U;
      result.back += static_cast<unsigned>(other.take().size());
    }
    return result;
  }
};

TEST_F(RmppLoss, WithoutLossAllArriveWhateverTheRetries) {
  EXPECT_EQ(answered(0, 0), (Lossy{kAnswers, kAnswers}));
}

TEST_F(RmppLoss, WithoutATimeOutAnswersEndByThemselvesWhenTheyAreAcknowledged) {
  EXPECT_EQ(answered(0, 0, 0), (Lossy{kAnswers, 0}));
}

TEST_F(RmppLoss, OfAHundredthMostAnswersAreLostWithoutRetries) {
  EXPECT_LT(answered(0.01, 0, 0).whole, kAnswers / 2);
}

TEST_F(RmppLoss, OfAHundredthNoneIsLostWithFiveRetries) {
  EXPECT_EQ(answered(0.01, 5), (Lossy{kAnswers, kAnswers}));
}

TEST_F(RmppLoss, OfATenthNoneIsLostWithFiveRetries) {
  EXPECT_EQ(answered(0.1, 5), (Lossy{kAnswers, kAnswers}));
}

TEST_F(RmppLoss, WhereAllIsLostTheSendComesBackAfterItsRetries) {
  EXPECT_EQ(answered(1, 5), (Lossy{0, kAnswers}));
}

TEST(RmppTransfer, WindowsAreOneSegmentAndThenSixtyFour) {
  sim::Random random;
  sim::RmppTransfer transfer(300);
  EXPECT_TRUE(transfer.send(random, 0));
  EXPECT_TRUE(transfer.received());
  EXPECT_TRUE(transfer.acknowledged());
  EXPECT_EQ(transfer.packets(), 300U);

  sim::RmppTransfer lost(300);
  EXPECT_FALSE(lost.send(random, 0xFFFF'FFFF));
  EXPECT_EQ(lost.packets(), 1U) << "the first segment waits for its acknowledgement";
  EXPECT_TRUE(lost.resend(random, 0));
  EXPECT_EQ(lost.packets(), 301U);
}

TEST_F(UmadFile, ADeviceWithoutSmiRefusesItsClassesAndNoOthers) {
  fabric.faults().no_smi("h0");
  EXPECT_EQ(file.add_agent({.interface = sim::Interface::smi, .mgmt_class = 0x81, .version = 1}).error(),
            EPROTONOSUPPORT);
  EXPECT_TRUE(file.add_agent(sa(true)));
  fabric.faults().heal("h0");
  EXPECT_TRUE(file.add_agent({.interface = sim::Interface::smi, .mgmt_class = 0x81, .version = 1}));
}

TEST_F(UmadFile, WithoutRmppThereIsTheFirstSegment) {
  const auto asks = file.add_agent(sa(true)).value();
  ASSERT_TRUE(other.add_agent(sa(false, bit(0x12))));
  ASSERT_TRUE(file.write(umad({.agent = asks, .method = 0x12, .length = 5000, .rmpp = true}), now));

  EXPECT_EQ(other.take().at(0).size(), sim::kUmadHeader + 256);
}

TEST_F(UmadFile, ALongMadNeedsRmpp) {
  const auto agent = file.add_agent(sa(false)).value();
  EXPECT_EQ(file.write(umad({.agent = agent, .length = 257}), now).error(), EINVAL);
  EXPECT_EQ(file.write(umad({.agent = agent, .length = 20}), now).error(), EINVAL);
  EXPECT_EQ(file.write(umad({.agent = 9}), now).error(), EINVAL);
}

TEST_F(UmadFile, TheShorterHeaderIsTheDefaultAndStaysOnceThereIsAnAgent) {
  sim::UmadFile old{fabric, *fabric.find({"h2"})};
  EXPECT_EQ(old.header_bytes(), 56U);
  ASSERT_TRUE(old.add_agent(sa(false)));
  EXPECT_EQ(old.enable_pkey().error(), EINVAL);
}

/// Solicited-MAD flow control: 128 requests of an SMI agent are under way, the 129th when one of them is
/// over.
TEST_F(UmadFile, RequestsBeyondThePlacesOfTheKernelWaitUnsent) {
  auto options = sim::Options{};
  options.kernel = sim::kLinuxPlaces;
  sim::World limited{two_leaves(), options};
  auto& its = limited.fabric();
  sim::UmadFile umads{its, *its.find({"h0"})};
  ASSERT_TRUE(umads.enable_pkey());
  const auto agent = *umads.add_agent({.interface = sim::Interface::smi, .mgmt_class = 1, .version = 1});
  its.faults().silent("h1");
  for (std::uint32_t tid = 1; tid <= 130; ++tid) {
    const auto sent = umad({.agent = agent, .to = Lid{9}, .mgmt_class = 1, .tid = tid, .timeout_ms = 100});
    ASSERT_TRUE(umads.write(sent, its.state().now));
  }
  limited.run_for(milliseconds(110));
  EXPECT_EQ(umads.take().size(), 128U) << "the others' time has begun only now";
  limited.run_for(milliseconds(110));
  EXPECT_EQ(umads.take().size(), 2U);
}

}  // namespace
}  // namespace smd::test
