// SPDX-License-Identifier: Apache-2.0
// Devices that come late, go, and come back, in real time (the fabric is a small one).
#include "smd/daemon/instance.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "config/qos_classes.h"
#include "tests/support/instance_lab.h"

namespace smd::daemon {
namespace {

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
  EXPECT_TRUE(shows([](const api::SubnetView& view) {
    return view.snapshot && view.snapshot->summary.engine == "minhop";
  }));
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
  // It may be back before the next light sweep, and another SM be master then.
  ASSERT_TRUE(shows(
      [](const api::SubnetView& view) { return view.snapshot && view.snapshot->subnet->nodes.size() == 1; }));

  device_.set([](Device& device) { device.pulled = false; });

  EXPECT_TRUE(logged("port.link_is_back"));
  EXPECT_TRUE(
      shows([](const api::SubnetView& view) { return view.snapshot && view.snapshot->summary.cas == 8; }));
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
