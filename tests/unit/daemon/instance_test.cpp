// SPDX-License-Identifier: Apache-2.0
// Devices that come late, go, and come back, in real time (the fabric is a small one).
#include "smd/daemon/instance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "config/qos_classes.h"
#include "mad/base/fabric_spec.h"
#include "mad/sim/drivers/live.h"
#include "mad/task_group.h"
#include "tests/support/store_lab.h"

namespace smd::daemon {
namespace {

/// What the test does to the device, and what the instance has logged.
struct Device {
  std::mutex lock;
  std::condition_variable changed;
  std::string missing = "no InfiniBand device on this machine";  ///< empty: it is there
  std::string taken;                                             ///< by another SM
  std::string no_link;
  bool pulled = false;          ///< the cable of the SM's own port
  bool traps_are_lost = false;  ///< none is sent a second time
  std::string stalled;          ///< its firmware
  std::string no_gsi;
  unsigned gsi_opened = 0;
  bool lost = false;
  unsigned opened = 0;
  std::vector<std::string> lines;

  template <class Change>
  void set(Change change) {
    const std::scoped_lock hold(lock);
    change(*this);
  }
  template <class Until>
  bool wait(Until until) {
    std::unique_lock hold(lock);
    return changed.wait_for(hold, std::chrono::seconds(20), [&] { return until(*this); });
  }
  std::size_t count(std::string_view what) {
    const std::scoped_lock hold(lock);
    return static_cast<std::size_t>(
        std::ranges::count_if(lines, [&](const auto& line) { return line.find(what) != std::string::npos; }));
  }
};

class TestEnd final : public SmPort {
 public:
  TestEnd(Device& device, sim::Live& live)
      : device_(device),
        live_(live),
        transport_(live.transport()),
        gsi_(live.transport(sim::Interface::gsi)) {}
  mad::Transport& smi() override { return *transport_; }
  std::expected<mad::Transport*, std::string> open_gsi() override {
    const std::scoped_lock hold(device_.lock);
    if (!device_.no_gsi.empty()) return std::unexpected(device_.no_gsi);
    ++device_.gsi_opened;
    return gsi_.get();
  }
  Guid port_guid() const override { return Guid{0x99}; }
  mad::LidRoute sm_then() const override { return {}; }
  std::string port_name() const override { return "test_0:1"; }
  std::expected<void, std::string> claim_sm() override {
    const std::scoped_lock hold(device_.lock);
    if (!device_.taken.empty()) return std::unexpected(device_.taken);
    return {};
  }
  Health look() override {
    const std::scoped_lock hold(device_.lock);
    if (device_.lost) return {.lost = true, .reason = "test_0:1 is gone"};
    if (!device_.stalled.empty()) return {.reason = device_.stalled, .what = "device"};
    if (device_.pulled != pulled_) pull(device_.pulled);
    return {.reason = pulled_ ? "pulled" : device_.no_link};
  }

 private:
  void pull(bool out) {
    pulled_ = out;
    live_.with([out](sim::Fabric& fabric) {
      const sim::Place own{fabric.state().node_of(*fabric.default_port()).name, PortNum{1}};
      return out ? fabric.faults().link_down(own) : fabric.faults().link_up(own);
    });
  }
  Device& device_;
  sim::Live& live_;
  bool pulled_ = false;
  std::unique_ptr<sim::Transport> transport_, gsi_;
};

class TestSource final : public SmPortSource {
 public:
  explicit TestSource(Device& device) : device_(device) {}
  std::expected<std::unique_ptr<SmPort>, std::string> open(asio::io_context& io) override {
    const std::scoped_lock hold(device_.lock);
    if (!device_.missing.empty()) return std::unexpected(device_.missing);
    sim::Options options;
    if (device_.traps_are_lost) options.trap_gap = std::chrono::hours(1);
    if (!live_) live_ = std::make_unique<sim::Live>(io.get_executor(), *base::make_fabric("ft2:4"), options);
    device_.lost = false;
    ++device_.opened;
    device_.changed.notify_all();
    return std::make_unique<TestEnd>(device_, *live_);
  }

 private:
  Device& device_;
  std::unique_ptr<sim::Live> live_;
};

class AnInstance : public testing::Test {
 protected:
  explicit AnInstance(config::HaConfig ha = {},
                      std::chrono::milliseconds interval = std::chrono::milliseconds(100),
                      const std::string& name = {}, store::StoreThread* stores = nullptr) {
    InstanceSpec spec;
    spec.name = name;
    spec.config.ha = std::move(ha);
    spec.where = "any port";
    spec.ends = std::make_unique<TestSource>(device_);
    spec.config.sweep.interval = interval;
    const auto output = [this](const log::Record&, std::string_view line) {
      const std::scoped_lock hold(device_.lock);
      device_.lines.emplace_back(line);
      device_.changed.notify_all();
    };
    instance_ =
        std::make_unique<Instance>(std::move(spec), compute_, stores, log::Log({}, output, log::real_times()),
                                   InstanceEvents{.ring = ring_, .members = members_}, [] {});
  }
  bool logged(std::string_view what, std::size_t times = 1) {
    return device_.wait([&](Device& device) {
      return static_cast<std::size_t>(std::ranges::count_if(device.lines, [&](const auto& line) {
               return line.find(what) != std::string::npos;
             })) >= times;
    });
  }
  /// The view follows the log line.
  template <class Until>
  bool shows(Until until) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!until(*instance_->view())) {
      if (std::chrono::steady_clock::now() > limit) return false;
      std::this_thread::yield();
    }
    return true;
  }
  bool waits_for(const std::string& reason) {
    return shows(
        [&](const api::SubnetView& view) { return (view.waiting ? view.waiting->reason : "") == reason; });
  }

  Device device_;
  sm::PoolCompute compute_{1};
  events::EventRing ring_{log::real_times()};
  sm::Memberships members_;
  std::unique_ptr<Instance> instance_;
};

TEST_F(AnInstance, WaitsForItsDeviceAndTakesTheFabricWhenItIsThere) {
  ASSERT_TRUE(logged("port.waiting reason=\"no InfiniBand device"));
  EXPECT_TRUE(waits_for("no InfiniBand device on this machine"));
  EXPECT_EQ(instance_->view()->name, "");

  device_.set([](Device& device) { device.missing.clear(); });

  ASSERT_TRUE(logged("state=up"));
  EXPECT_TRUE(waits_for(""));
  EXPECT_EQ(instance_->view()->name, "0x0000000000000099");
  EXPECT_EQ(instance_->view()->port, "test_0:1");
  EXPECT_EQ(device_.count("port.waiting"), 1U);
}

TEST_F(AnInstance, OpensItsDeviceAgainAfterItWasUnplugged) {
  device_.set([](Device& device) { device.missing.clear(); });
  ASSERT_TRUE(logged("state=up"));
  device_.set([](Device& device) {
    device.lost = true;
    device.missing = "no port test_0:1 (there are none)";
  });

  ASSERT_TRUE(logged("no port test_0:1"));
  EXPECT_TRUE(waits_for("no port test_0:1 (there are none)"));
  EXPECT_NE(instance_->view()->snapshot, nullptr);
  device_.set([](Device& device) { device.missing.clear(); });

  ASSERT_TRUE(logged("reason=start", 2));
  EXPECT_EQ(device_.opened, 2U);
  EXPECT_TRUE(waits_for(""));
}

TEST_F(AnInstance, WaitsForThePlaceOfAnotherSmOnItsPort) {
  device_.set([](Device& device) {
    device.missing.clear();
    device.taken = "another subnet manager runs on this port";
  });

  ASSERT_TRUE(logged("sm.place_taken"));
  EXPECT_TRUE(waits_for("another subnet manager runs on this port"));
  device_.set([](Device& device) { device.taken.clear(); });

  ASSERT_TRUE(logged("state=up"));
  EXPECT_TRUE(waits_for(""));
  EXPECT_EQ(device_.count("sm.place_taken"), 1U);
}

TEST_F(AnInstance, SaysOnceThatItsCableWasPulledAndOnceThatItIsBack) {
  device_.set([](Device& device) { device.missing.clear(); });
  ASSERT_TRUE(logged("state=up"));
  device_.set([](Device& device) { device.no_link = "port test_0:1 has no link"; });
  ASSERT_TRUE(logged("has no link"));
  EXPECT_TRUE(waits_for("port test_0:1 has no link"));

  device_.set([](Device& device) { device.no_link.clear(); });

  ASSERT_TRUE(logged("port.link_is_back"));
  EXPECT_TRUE(waits_for(""));
  EXPECT_EQ(device_.count("has no link"), 1U);
}

TEST_F(AnInstance, SaysThatItsDeviceDoesNotAnswerAndGoesOn) {
  device_.set([](Device& device) { device.missing.clear(); });
  ASSERT_TRUE(logged("state=up"));
  device_.set([](Device& device) { device.stalled = "test_0:1 does not answer"; });
  ASSERT_TRUE(logged("does not answer"));
  EXPECT_TRUE(
      shows([](const api::SubnetView& view) { return view.waiting && view.waiting->what == "device"; }));
  instance_->resweep(sm::Resweep::heavy, "test");
  EXPECT_TRUE(logged("reason=test"));

  device_.set([](Device& device) { device.stalled.clear(); });

  ASSERT_TRUE(logged("port.device_answers"));
  EXPECT_TRUE(waits_for(""));
}

TEST_F(AnInstance, OpensSubnetAdministrationAgainWhereItCouldNotBeOpened) {
  device_.set([](Device& device) {
    device.missing.clear();
    device.no_gsi = "another process has it";
  });
  ASSERT_TRUE(logged("sa.no_port"));
  EXPECT_TRUE(waits_for("another process has it"));
  ASSERT_TRUE(logged("state=up"));

  device_.set([](Device& device) { device.no_gsi.clear(); });

  ASSERT_TRUE(logged("sa.opened"));
  EXPECT_TRUE(waits_for(""));
  EXPECT_EQ(device_.count("sa.no_port"), 1U);
  EXPECT_EQ(device_.gsi_opened, 1U);
}

TEST_F(AnInstance, EndsAtOnceWhileItWaits) {
  ASSERT_TRUE(logged("port.waiting"));
  const auto begun = std::chrono::steady_clock::now();

  instance_.reset();

  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(5));
}

TEST_F(AnInstance, AReloadIsInForceWithItsNextSweep) {
  device_.set([](Device& device) { device.missing.clear(); });
  ASSERT_TRUE(logged("state=up"));
  config::SubnetConfig config;
  config.routing.engines = {"minhop"};

  instance_->reload(config);

  ASSERT_TRUE(logged("reason=reload"));
  EXPECT_TRUE(shows([](const api::SubnetView& view) { return view.snapshot->summary.engine == "minhop"; }));
}

/// What the API and `smd qos` say of it is of the policy_state.
TEST_F(AnInstance, APolicyThatAReloadRefusedIsShownUntilOneIsRight) {
  device_.set([](Device& device) { device.missing.clear(); });
  ASSERT_TRUE(logged("state=up"));
  instance_->show_refused("", "q.conf:3: wrong");
  EXPECT_TRUE(shows([](const api::SubnetView& view) {
    return view.policy_state != nullptr && view.policy_state->config->qos.refused == "q.conf:3: wrong";
  }));
  instance_->show_refused("p.conf:1: wrong", "");
  EXPECT_TRUE(shows([](const api::SubnetView& view) {
    return view.snapshot && view.snapshot->summary.state == sm::SweepState::degraded &&
           view.snapshot->summary.why.contains("wrong about partitions");
  }));
  instance_->reload(config::SubnetConfig{});
  EXPECT_TRUE(shows([](const api::SubnetView& view) {
    return view.policy_state->config->partitions.refused.empty() &&
           view.snapshot->summary.state == sm::SweepState::up;
  }));
}

/// Its thread does not know yet that it has stood still when it takes the change.
TEST_F(AnInstance, AfterAStandstillNothingIsChangedUntilItIsKnownWhoIsMaster) {
  device_.set([](Device& device) { device.missing.clear(); });
  ASSERT_TRUE(shows([](const api::SubnetView& view) {
    return view.snapshot && view.snapshot->summary.state == sm::SweepState::up && view.policy_state;
  }));
  const auto make_change = [&] {
    const auto before = instance_->view()->policy_state;
    return instance_->change_policies({.before = before,
                                       .after = std::make_shared<policy::Policies>(*before->policies),
                                       .merged = before->merged,
                                       .what = "put",
                                       .partition = "blue"});
  };
  std::promise<void> begun;
  instance_->ping([&begun] {
    begun.set_value();
    std::this_thread::sleep_for(std::chrono::seconds(1));
  });
  begun.get_future().wait();
  EXPECT_EQ(make_change().get(), api::PolicyVerdict::not_master);
  EXPECT_EQ(device_.count("partition.changed"), 0U);
  EXPECT_GT(device_.count("sm.stood_still"), 0U);

  ASSERT_TRUE(shows([](const api::SubnetView& view) { return !view.sms->state.sets_held; }));
  EXPECT_EQ(make_change().get(), api::PolicyVerdict::done);
  EXPECT_EQ(device_.count("partition.changed"), 1U);
}

TEST_F(AnInstance, UsesOfTokensThatComeTogetherAreAllKept) {
  device_.set([](Device& device) { device.missing.clear(); });
  ASSERT_TRUE(shows([](const api::SubnetView& view) {
    return view.snapshot && view.snapshot->summary.state == sm::SweepState::up && view.policy_state;
  }));
  const auto before = instance_->view()->policy_state;
  auto after = std::make_shared<policy::Policies>(*before->policies);
  after->tokens = {{"a", {.hash = "h"}}, {"b", {.hash = "i"}}, {"c", {.hash = "j"}}};
  const auto made = instance_->change_policies({.before = before,
                                                .after = after,
                                                .merged = before->merged,
                                                .what = "add",
                                                .partition = {},
                                                .token = "a"});
  made.wait();

  for (const auto* token : {"a", "b", "none", "a"}) instance_->token_used(token, 1000);

  const auto last_use = [](const api::SubnetView& view, const char* token) {
    return view.policy_state->policies->tokens.at(token).last_use;
  };
  EXPECT_TRUE(
      shows([&](const auto& view) { return last_use(view, "a") == 1000 && last_use(view, "b") == 1000; }));
  EXPECT_EQ(last_use(*instance_->view(), "c"), 0);
  EXPECT_EQ(device_.count("api.token"), 1U) << "a use is not said";
}

/// The second comes while the first is being merged, at one of these moments.
TEST_F(AnInstance, OfTwoReloadsTheStateIsThatOfTheSecond) {
  device_.set([](Device& device) { device.missing.clear(); });
  ASSERT_TRUE(logged("state=up"));
  for (int i = 0; i < 100; ++i) {
    instance_->show_refused("", "q.conf:3: wrong");
    const auto next = std::chrono::steady_clock::now() + std::chrono::microseconds(2 * i);
    while (std::chrono::steady_clock::now() < next) {
    }
    instance_->show_refused("p.conf:1: wrong", "");
    ASSERT_TRUE(shows([](const api::SubnetView& view) {
      return view.snapshot && view.snapshot->summary.why.contains("wrong about partitions");
    })) << 10 * i
        << " us";
    instance_->reload(config::SubnetConfig{});
    ASSERT_TRUE(shows(
        [](const api::SubnetView& view) { return view.snapshot && view.snapshot->summary.why.empty(); }));
  }
}

/// What runs keeps its SL when a reload puts classes in another order.
TEST_F(AnInstance, AClassKeepsItsSlOverReloads) {
  const auto with_classes = [](const std::vector<std::string>& names) {
    config::SubnetConfig config;
    config.qos.enabled = true;
    for (const auto& name : names) {
      config.qos.traffic_classes.push_back({.name = name, .partitions = {name}});
      config.partition.push_back({.name = name, .pkey = static_cast<std::uint16_t>(0x10 + name[0])});
    }
    return config;
  };
  const auto sl_of = [](const api::SubnetView& view, char name) {
    const auto* found = view.policy_state->merged->find(PKey{static_cast<std::uint16_t>(0x10 + name)});
    return found != nullptr ? found->sl : Sl{0};
  };
  const auto in_force = [](const api::SubnetView& view, std::string_view name) {
    const auto& qos = view.snapshot->decided.qos_policy;
    if (!qos) return Sl{0};
    const auto* found = config::find_class(qos->policy->classes, name);
    return found != nullptr ? found->sl : Sl{0};
  };
  device_.set([](Device& device) { device.missing.clear(); });
  ASSERT_TRUE(logged("state=up"));
  instance_->reload(with_classes({"a", "b"}));
  ASSERT_TRUE(shows([&](const api::SubnetView& view) {
    return sl_of(view, 'a') == Sl{1} && sl_of(view, 'b') == Sl{2} &&
           view.policy_state->policies->class_sls.size() == 2 && in_force(view, "b") == Sl{2};
  }));

  instance_->reload(with_classes({"x", "b", "a"}));

  ASSERT_TRUE(shows([&](const api::SubnetView& view) {
    return sl_of(view, 'x') != Sl{0} && view.policy_state->policies->class_sls.size() == 3 &&
           in_force(view, "x") != Sl{0};
  }));
  const auto view = instance_->view();
  EXPECT_EQ(sl_of(*view, 'x'), Sl{3});
  EXPECT_EQ(sl_of(*view, 'a'), Sl{1});
  EXPECT_EQ(sl_of(*view, 'b'), Sl{2});
  EXPECT_EQ(in_force(*view, "a"), Sl{1});
  EXPECT_EQ(in_force(*view, "x"), Sl{3});
}

class AnInstanceWithoutItsCertificate : public AnInstance {
 protected:
  AnInstanceWithoutItsCertificate()
      : AnInstance(
            {.peers = {"192.0.2.1"}, .cert = "/no/cert.pem", .key = "/no/key.pem", .ca = "/no/ca.pem"}) {}
};

asio::awaitable<void> keep_a_token(store::StoreThread* stores, std::string subnet) {
  auto opened = co_await stores->open(std::move(subnet));
  if (!opened) co_return;
  auto policies = std::make_shared<policy::Policies>();
  policies->tokens["mon"] = {.role = access::Role::admin, .hash = access::hash_of("smd_0")};
  co_await (*opened)->commit_policies(std::move(policies));
}

/// A state directory with a token of subnet "east".
class StateWithToken {
 protected:
  StateWithToken() {
    mad::TaskGroup group(io_.get_executor());
    group.spawn(keep_a_token(&stores_, "east"));
    io_.run();
  }
  asio::io_context io_{1};  ///< longer than the thread, which posts to it
  test::TemporaryFolder folder_;
  test::KeptLines kept_lines_;
  store::StoreThread stores_{{.place = {folder_.path()}}, kept_lines_.log};
};

/// The state first: it is there longer than the instance.
class AnInstanceWithAName : protected StateWithToken, public AnInstance {
 protected:
  AnInstanceWithAName() : AnInstance({}, std::chrono::milliseconds(100), "east", &stores_) {}
};

TEST_F(AnInstanceWithAName, KnowsItsTokensBeforeItHasAPort) {
  ASSERT_TRUE(logged("port.waiting"));
  EXPECT_TRUE(shows([](const api::SubnetView& view) {
    const auto* policies = api::known_policies(view);
    return policies != nullptr && policies->tokens.contains("mon");
  }));
  EXPECT_EQ(instance_->view()->policy_state, nullptr) << "nothing is changed yet";
  device_.set([](Device& device) { device.missing.clear(); });
  ASSERT_TRUE(logged("state=up"));
  EXPECT_TRUE(shows([](const api::SubnetView& view) {
    return view.policy_state && view.policy_state->policies->tokens.contains("mon") && !view.kept;
  }));
}

class AnInstanceThatSweepsRarely : public AnInstance {
 protected:
  AnInstanceThatSweepsRarely() : AnInstance({}, std::chrono::hours(1)) {}
};

/// Its device tells it, long before the next light sweep. Until then two SMs would wait for each other.
TEST_F(AnInstanceThatSweepsRarely, IsBackWithItsCable) {
  device_.set([](Device& device) {
    device.traps_are_lost = true;
    device.missing.clear();
  });
  ASSERT_TRUE(logged("state=up"));
  device_.set([](Device& device) { device.pulled = true; });
  ASSERT_TRUE(logged("port.waiting"));
  instance_->resweep(sm::Resweep::heavy, "test");
  ASSERT_TRUE(logged("reason=test"));
  ASSERT_TRUE(shows([](const api::SubnetView& view) { return view.snapshot->subnet->nodes.size() == 1; }));

  device_.set([](Device& device) { device.pulled = false; });

  EXPECT_TRUE(logged("port.link_is_back"));
  EXPECT_TRUE(shows([](const api::SubnetView& view) { return view.snapshot->summary.cas == 8; }));
}

TEST_F(AnInstanceWithoutItsCertificate, SaysFromTheStartThatItsStateIsToBeCopied) {
  ASSERT_TRUE(logged("port.waiting"));
  const auto replica = instance_->view()->replica;
  ASSERT_TRUE(replica);
  EXPECT_EQ(replica->role, replica::ReplicaView::Role::none);
  EXPECT_EQ(replica->failure, "") << "nothing was opened yet";
}

/// It serves its fabric, and not only the log says that nothing is copied.
TEST_F(AnInstanceWithoutItsCertificate, IsMasterAndShowsWhyNothingIsCopied) {
  device_.set([](Device& device) { device.missing.clear(); });
  ASSERT_TRUE(logged("state=up"));
  EXPECT_TRUE(logged("ha.not_replicated"));
  EXPECT_TRUE(shows([](const api::SubnetView& view) {
    return view.replica && view.replica->failure.find("/no/cert.pem") != std::string::npos;
  }));
}

}  // namespace
}  // namespace smd::daemon
