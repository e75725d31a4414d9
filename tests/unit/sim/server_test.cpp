// SPDX-License-Identifier: Apache-2.0
// The server of a simulated fabric, by its socket, with programs that know its language and some that do not.
#include "mad/sim/umad_server/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>

#include "mad/asio.h"
#include "mad/sim/attach/protocol.h"
#include "mad/sim/drivers/live.h"
#include "mad/sim/umad_server/ask.h"
#include "mad/sim/umad_server/seqpacket.h"
#include "tests/support/sim_lab.h"

namespace smd::test {
namespace {

using sim::attach::Hello;
using sim::attach::Kind;
using sim::attach::Reply;

struct Server : testing::Test {
  std::filesystem::path folder = make_folder();
  std::filesystem::path path = folder / "socket";
  asio::io_context io;
  std::optional<sim::Live> live{std::in_place, io.get_executor(), two_leaves()};

  Server() {
    auto server = sim::Server::at(path);
    EXPECT_TRUE(server) << server.error();
    live->serve(std::move(*server));
  }
  ~Server() override {
    live.reset();
    std::filesystem::remove_all(folder);
  }

  static std::filesystem::path make_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "smd-server-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    return name;
  }

  struct Program {
    sim::Descriptor fd;
    /// errno of the Reply; -1: the server has ended the connection.
    int reply() {
      std::vector<std::uint8_t> bytes(1000);
      std::size_t size = 0;
      sim::Descriptor with;
      pollfd wait{.fd = fd.get(), .events = POLLIN, .revents = 0};
      EXPECT_EQ(::poll(&wait, 1, 10'000), 1);
      if (sim::receive_message(fd.get(), bytes, size, with) != sim::Receipt::message) return -1;
      Reply reply{};
      std::memcpy(&reply, bytes.data(), sizeof(reply));
      return reply.error;
    }
  };
  Program program(Kind kind, std::string_view places, std::uint32_t wait = 0) {
    Program made{sim::connect_to(path).value()};
    Hello hello{.magic = {}, .kind = kind, .index = 0, .wait = wait, .pid = 0};
    std::memcpy(hello.magic, sim::attach::kHelloMagic, sizeof(hello.magic));
    std::vector<std::uint8_t> bytes(sizeof(hello) + places.size());
    std::memcpy(bytes.data(), &hello, sizeof(hello));
    std::memcpy(bytes.data() + sizeof(hello), places.data(), places.size());
    EXPECT_EQ(sim::send_message(made.fd.get(), bytes), 0);
    return made;
  }
  bool is_sm(const char* node) {
    return live->with([&](sim::Fabric& f) { return (f.port_info({node})->capability_mask & 2U) != 0; });
  }
};

TEST_F(Server, IssmHasOneHolderAndTheNextOneGetsItWhenTheFirstHasGone) {
  auto first = program(Kind::issm, "h0");
  ASSERT_EQ(first.reply(), 0);
  EXPECT_TRUE(is_sm("h0"));
  EXPECT_EQ(program(Kind::issm, "h0").reply(), EAGAIN);
  auto waiting = program(Kind::issm, "h0", 1);

  first.fd = {};

  EXPECT_EQ(waiting.reply(), 0);
  waiting.fd = {};
  while (is_sm("h0")) ::usleep(1000);
}

TEST_F(Server, ANodeThatIsNotThereIsRefusedWithAReason) {
  EXPECT_EQ(program(Kind::umad, "h77").reply(), ENODEV);
  const auto answer = sim::ask_places(path, "h77\n");
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->done);
  EXPECT_EQ(answer->text, "h77: no such node in the fabric");
}

TEST_F(Server, CommandsAreCarriedOut) {
  const auto done = sim::ask_command(path, "link down h0 1");
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->done);
  EXPECT_EQ(live->with([](sim::Fabric& f) { return f.port_info({"h0", PortNum{1}})->port_state; }),
            PortState::down);
  const auto wrong = sim::ask_command(path, "link sideways h0 1");
  ASSERT_TRUE(wrong);
  EXPECT_FALSE(wrong->done);
}

TEST_F(Server, CommandsAndAnswersMayBeLong) {
  std::string split = "split";
  for (int i = 0; i < 5'000; ++i) split += " h0";
  ASSERT_TRUE(sim::ask_command(path, split + " h1")->done);
  EXPECT_THAT(sim::ask_command(path, "show h1")->text, testing::HasSubstr("split"));

  const std::string name(300'000, 'x');
  ASSERT_TRUE(sim::ask_command(path, "node name h1 " + name)->done);
  EXPECT_THAT(sim::ask_command(path, "show leaf1")->text, testing::HasSubstr(name));
  EXPECT_THAT(sim::ask_places(path, name).error(), testing::HasSubstr("300000 bytes, allowed"));
}

TEST_F(Server, ASocketThatIsServedIsNotTakenAndOneThatWasLeftBehindIs) {
  EXPECT_THAT(sim::Server::at(path).error(), testing::HasSubstr("another simulated fabric"));
  const auto left = folder / "left";
  {
    auto listening = sim::listen_at(left);
  }
  EXPECT_TRUE(std::filesystem::exists(left));
  EXPECT_TRUE(sim::Server::at(left));
}

TEST_F(Server, AnyBytesEndAtMostTheirOwnConnection) {
  std::minstd_rand random(7);
  auto good = program(Kind::issm, "h1");
  ASSERT_EQ(good.reply(), 0);
  for (int i = 0; i < 2000; ++i) {
    sim::Descriptor fd;
    if (i % 3 == 0) {
      fd = sim::connect_to(path).value();
    } else {
      auto opened = program(i % 3 == 1 ? Kind::umad : Kind::control, "h0");
      EXPECT_EQ(opened.reply(), 0);
      fd = std::move(opened.fd);
    }
    for (int j = 0; j < 3; ++j) {
      std::vector<std::uint8_t> bytes(1 + random() % 400);
      for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
      const bool call = random() % 2 == 0 && bytes.size() >= 8;
      if (call) std::memcpy(bytes.data(), sim::attach::kCallMagic, 8);
      if (call) bytes.resize(sizeof(sim::attach::Call));
      sim::send_message(fd.get(), bytes, call ? fd.get() : -1);
    }
  }

  const auto answer = sim::ask_command(path, "show h0");
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->done);
  EXPECT_TRUE(is_sm("h1"));
}

}  // namespace
}  // namespace smd::test
