// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small fabrics written by hand, and a client that asks one SMP at a time.

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mad/base/fabric.h"
#include "mad/sim/drivers/world.h"
#include "mad/wire/attributes.h"
#include "mad/wire/smp.h"

namespace smd::test {

/// Nodes and cables in the order in which they are added. GUIDs are 0x1000, 0x2000, …
class FabricBuilder {
 public:
  base::NodeIndex add_switch(std::string name, unsigned ports) {
    return add(NodeType::switch_, std::move(name), ports);
  }
  base::NodeIndex add_ca(std::string name, unsigned ports = 1) {
    return add(NodeType::ca, std::move(name), ports);
  }
  void link(base::NodeIndex a, unsigned pa, base::NodeIndex b, unsigned pb, LinkSpeed speed = LinkSpeed::edr,
            LinkWidth width = LinkWidth::x4) {
    end(a, pa, b, pb, speed, width);
    end(b, pb, a, pa, speed, width);
  }
  base::FabricNode& node(base::NodeIndex index) { return fabric_.nodes[index]; }
  const base::Fabric& fabric() const { return fabric_; }

 private:
  base::NodeIndex add(NodeType type, std::string name, unsigned ports) {
    auto& node = fabric_.nodes.emplace_back();
    node.type = type;
    node.guid = Guid{0x1000 * fabric_.nodes.size()};
    node.system_image = node.guid;
    node.vendor_id = 0x2c9;
    node.device_id = 0x1017;
    node.id = (type == NodeType::switch_ ? "S-" : "H-") + name;
    node.name = std::move(name);
    node.ports.resize(ports + std::size_t{1});
    return static_cast<base::NodeIndex>(fabric_.nodes.size() - 1);
  }
  void end(base::NodeIndex a, unsigned pa, base::NodeIndex b, unsigned pb, LinkSpeed speed, LinkWidth width) {
    auto& port = fabric_.nodes[a].ports[pa];
    port.peer = base::Peer{b, PortNum{static_cast<std::uint8_t>(pb)}};
    port.rate = {.width = width, .speed = speed, .text = {}};
  }
  base::Fabric fabric_;
};

/// h0[1] - [1]leaf0[3] - [1]spine[2] - [3]leaf1[1] - [1]h1, h2 on leaf1 port 2.
inline base::Fabric two_leaves() {
  FabricBuilder b;
  const auto leaf0 = b.add_switch("leaf0", 4), spine = b.add_switch("spine", 4),
             leaf1 = b.add_switch("leaf1", 4);
  const auto h0 = b.add_ca("h0"), h1 = b.add_ca("h1"), h2 = b.add_ca("h2", 2);
  b.link(h0, 1, leaf0, 1);
  b.link(leaf0, 3, spine, 1);
  b.link(spine, 2, leaf1, 3);
  b.link(h1, 1, leaf1, 1);
  b.link(h2, 1, leaf1, 2);
  return b.fabric();
}

inline mad::DirectedPath path(std::initializer_list<unsigned> hops) {
  mad::DirectedPath way;
  for (const auto hop : hops) way = *way.then(PortNum{static_cast<std::uint8_t>(hop)});
  return way;
}

template <class A>
struct Answer {
  std::uint16_t status = 0xFFFF;  ///< 0xFFFF: no answer
  A value{};
  wire::Smp smp;
  bool good() const { return status == 0; }
  bool none() const { return status == 0xFFFF; }
};

/// A client of one port; waits up to a second of virtual time for each answer.
class Asker {
 public:
  explicit Asker(sim::World& world, const sim::Place& place = {"h0"})
      : world_(world), transport_(world.transport(place)) {
    transport_->on_receive([this](std::span<mad::Received> mads) {
      for (auto& mad : mads) inbox.push_back(std::move(mad));
    });
  }

  std::optional<wire::Smp> ask(wire::Smp smp, const mad::Route& route) {
    smp.set_tid(Tid{next_tid_++});
    smp.set_m_key(m_key);
    inbox.clear();
    EXPECT_TRUE(transport_->send(smp.bytes(), route, std::chrono::seconds(1)));
    world_.run_for(std::chrono::seconds(1));
    for (const auto& mad : inbox) {
      const auto answer = wire::Smp::from_bytes(mad.bytes);
      if (answer && answer->method() == wire::Method::get_resp) return answer;
    }
    return std::nullopt;
  }
  template <class A>
  Answer<A> get(const mad::DirectedPath& way, std::uint32_t modifier = 0) {
    return read<A>(ask(wire::Smp::directed(wire::Method::get, A::kAttribute, modifier, way), way));
  }
  template <class A>
  Answer<A> set(const mad::DirectedPath& way, const A& value, std::uint32_t modifier = 0) {
    auto smp = wire::Smp::directed(wire::Method::set, A::kAttribute, modifier, way);
    smp.put(value);
    return read<A>(ask(smp, way));
  }
  template <class A>
  Answer<A> get(Lid lid, std::uint32_t modifier = 0) {
    return read<A>(
        ask(wire::Smp::lid_routed(wire::Method::get, A::kAttribute, modifier), mad::LidRoute{.lid = lid}));
  }
  /// Reads the attribute, changes it, sets it.
  template <class A>
  Answer<A> change(const mad::DirectedPath& way, std::uint32_t modifier, const std::function<void(A&)>& how) {
    auto value = get<A>(way, modifier).value;
    if constexpr (std::is_same_v<A, wire::PortInfo>) {
      value.port_state = PortState::no_change;
      value.phys_state = PhysState::no_change;
    }
    how(value);
    return set<A>(way, value, modifier);
  }
  /// MADs with this method that have come since the last question.
  std::vector<wire::Smp> came(wire::Method method) const {
    std::vector<wire::Smp> smps;
    for (const auto& mad : inbox) {
      const auto smp = wire::Smp::from_bytes(mad.bytes);
      if (smp && smp->method() == method) smps.push_back(*smp);
    }
    return smps;
  }
  sim::Transport& transport() { return *transport_; }

  std::uint64_t m_key = 0;
  std::vector<mad::Received> inbox;

 private:
  template <class A>
  Answer<A> read(const std::optional<wire::Smp>& smp) {
    if (!smp) return {};
    return {.status = smp->status(), .value = smp->get<A>(), .smp = *smp};
  }
  sim::World& world_;
  std::unique_ptr<sim::Transport> transport_;
  std::uint64_t next_tid_ = 1;
};

/// Gives ports LIDs (h0 1, h1 2, h2 3, leaf0 10, spine 11, leaf1 12), routes them and makes all links Active,
/// with h0's port as SM: what an SM would have done to two_leaves().
inline void bring_up_two_leaves(Asker& asker) {
  const auto up = [&](const mad::DirectedPath& way, std::uint32_t port, unsigned lid) {
    asker.change<wire::PortInfo>(way, port, [&](wire::PortInfo& info) {
      info.lid = Lid{static_cast<std::uint16_t>(lid)};
      info.sm_lid = Lid{1};
      info.operational_vls = 4;
    });
  };
  const auto table = [&](const mad::DirectedPath& way,
                         std::initializer_list<std::pair<unsigned, unsigned>> routes) {
    wire::LinearForwardingTable lft;
    lft.ports.fill(kNoPort);
    for (const auto& [lid, port] : routes) lft.ports[lid] = PortNum{static_cast<std::uint8_t>(port)};
    asker.set<wire::LinearForwardingTable>(way, lft, 0);
    asker.change<wire::SwitchInfo>(way, 0, [](wire::SwitchInfo& info) { info.linear_fdb_top = 63; });
  };
  const auto leaf0 = path({1}), spine = path({1, 3}), leaf1 = path({1, 3, 2});
  up(path({}), 1, 1);
  up(leaf0, 0, 10);
  up(spine, 0, 11);
  up(leaf1, 0, 12);
  up(path({1, 3, 2, 1}), 1, 2);
  up(path({1, 3, 2, 2}), 1, 3);
  table(leaf0, {{1, 1}, {2, 3}, {3, 3}, {10, 0}, {11, 3}, {12, 3}});
  table(spine, {{1, 1}, {2, 2}, {3, 2}, {10, 1}, {11, 0}, {12, 2}});
  table(leaf1, {{1, 3}, {2, 1}, {3, 2}, {10, 3}, {11, 3}, {12, 0}});
  using Link = std::pair<mad::DirectedPath, std::uint32_t>;
  const std::vector<Link> ports{{path({}), 1},
                                {leaf0, 1},
                                {leaf0, 3},
                                {spine, 1},
                                {spine, 2},
                                {leaf1, 3},
                                {leaf1, 1},
                                {leaf1, 2},
                                {path({1, 3, 2, 1}), 1},
                                {path({1, 3, 2, 2}), 1}};
  for (const auto state : {PortState::armed, PortState::active}) {
    for (const auto& [way, port] : ports) {
      asker.change<wire::PortInfo>(way, port, [&](wire::PortInfo& info) {
        info.port_state = state;
        info.operational_vls = 4;
      });
    }
  }
}

}  // namespace smd::test
