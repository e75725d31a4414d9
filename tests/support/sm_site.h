// SPDX-License-Identifier: Apache-2.0
#pragma once
// Several SMs of one fabric in virtual time, each of which can be started, killed and told to leave.

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/managed_world.h"

namespace smd::test {

class SmSite {
 public:
  explicit SmSite(std::string_view fabric) : world(spec(fabric)) {}
  ~SmSite() {
    while (!sms_.empty()) kill(sms_.begin()->first);
  }
  SmSite(const SmSite&) = delete;
  SmSite& operator=(const SmSite&) = delete;

  /// An SM on port 1 of this host, for at least one second.
  void start(const std::string& host, config::SubnetConfig config = {}) {
    auto& sm = sms_[host];
    sm.managed = std::make_unique<Managed>(world, sim::Place{host, PortNum{1}}, std::move(config));
    sm.group = std::make_unique<mad::TaskGroup>(world.io().get_executor());
    sm.group->spawn((*sm.managed)->run());
    world.run_for(std::chrono::seconds(1));
  }
  void start(const std::string& host, std::uint8_t priority) {
    config::SubnetConfig config;
    config.sm.priority = priority;
    start(host, config);
  }
  /// As kill -9: the port is no SM any more.
  void kill(const std::string& host) {
    auto sm = std::move(sms_.at(host));
    sms_.erase(host);
    world.run(sm.group->stop());
  }
  /// As SIGTERM.
  void leave(const std::string& host) {
    bool left = false;
    (*sms_.at(host).managed)->leave([&left] { left = true; });
    for (int step = 0; step < 150 && !left; ++step) world.run_for(std::chrono::milliseconds(10));
    EXPECT_TRUE(left);
    kill(host);
  }
  bool runs(const std::string& host) const { return sms_.contains(host); }
  Managed& operator[](const std::string& host) { return *sms_.at(host).managed; }
  wire::SmState state(const std::string& host) { return (*this)[host]->sms()->state.sm; }
  /// Hosts whose SM is master.
  std::vector<std::string> masters() {
    std::vector<std::string> found;
    for (const auto& [host, sm] : sms_) {
      if (state(host) == wire::SmState::master) found.push_back(host);
    }
    return found;
  }
  std::vector<std::string> hosts() const {
    std::vector<std::string> all;
    for (const auto& [host, sm] : sms_) all.push_back(host);
    return all;
  }
  /// What each SM has logged, for messages.
  std::string story() {
    std::string text;
    for (const auto& [host, sm] : sms_) {
      text += "--- " + host + "\n";
      for (const auto& line : sm.managed->lines().all) {
        if (line.find(" sm.") != std::string::npos || line.find("sweep ") != std::string::npos)
          text += line + "\n";
      }
    }
    return text;
  }

  sim::World world;

 private:
  struct Running {
    std::unique_ptr<Managed> managed;
    std::unique_ptr<mad::TaskGroup> group;
  };
  std::map<std::string, Running> sms_;
};

}  // namespace smd::test
