// SPDX-License-Identifier: Apache-2.0
// What hosts are told between sweeps: that their clients have to register again, and their alias GUIDs.
#include <unordered_map>
#include <utility>

#include "mad/transactions/ask.h"
#include "mad/wire/capability.h"
#include "mad/wire/modifier.h"
#include "mad/wire/tables.h"
#include "smd/apply/pump.h"
#include "smd/manager.h"
#include "smd/plan/wish.h"
#include "smd/sweep/paths.h"

namespace smd::sm {
namespace {

/// So many at a time: each has its clients come to us.
constexpr std::size_t kAskedAtOnce = 256;

struct Place {
  std::size_t node = 0;
  PortNum port;
};

std::unordered_map<Guid, Place> places_of(const Subnet& subnet, const std::set<Guid>& ports) {
  std::unordered_map<Guid, Place> found;
  for (std::size_t i = 0; i < subnet.nodes.size(); ++i) {
    const auto& node = *subnet.nodes[i];
    for (std::size_t p = 0; p < node.ports.size(); ++p) {
      const PortNum port{static_cast<std::uint8_t>(p)};
      const auto guid = node.is_switch() ? node.guid() : node.ports[p].guid;
      if (is_end_port(node, port) && ports.contains(guid)) found.emplace(guid, Place{i, port});
    }
  }
  return found;
}

}  // namespace

void SubnetManager::reregister(std::vector<Guid> ports) {
  to_reregister_ = {ports.begin(), ports.end()};
  agenda_.add(Work::multicast, "clients");
}

void SubnetManager::set_guids(const std::vector<GuidBlock>& blocks) {
  for (const auto& block : blocks) guids_[{block.port, block.block}] = block.guids;
  agenda_.add(Work::multicast, "clients");
}

/// False when cancelled.
asio::awaitable<bool> SubnetManager::tend_clients() {
  const bool written = co_await write_guids();
  if (!written) co_return false;
  co_return co_await ask_clients();
}

/// False when cancelled.
asio::awaitable<bool> SubnetManager::write_guids() {
  if (guids_.empty() || !subnet_ || agent_.state() != wire::SmState::master) co_return true;
  const auto subnet = subnet_;
  const auto blocks = guids_;
  std::set<Guid> ports;
  for (const auto& [key, guids] : blocks) ports.insert(key.first);
  const auto places = places_of(*subnet, ports);
  const Paths paths(*subnet);
  auto next = blocks.begin();
  const auto source = [&]() -> std::optional<Job> {
    while (next != blocks.end()) {
      const auto& [key, guids] = *next++;
      const auto place = places.find(key.first);
      if (place == places.end()) {
        guids_.erase(key);  // it is asked for again when the port is back
        continue;
      }
      const auto [index, port] = place->second;
      const auto path = paths.to_port(*subnet, index, port);
      if (!path) continue;
      const auto& node = *subnet->nodes[index];
      const mad::Target target{
          .route = *path, .node = node.guid(), .m_key = node.ports[port.value()].info.m_key};
      return Job{mad::set_request(target, wire::GuidInfo{.guids = guids}, key.second),
                 [this, block = key, sent = guids](const mad::Answer& answer) -> std::optional<Job> {
                   const auto now = guids_.find(block);
                   if (answer && now != guids_.end() && now->second == sent) guids_.erase(now);
                   return std::nullopt;
                 }};
    }
    return std::nullopt;
  };
  Pump pump(tx_, parts_.clock, kAskedAtOnce, [this] { return newer_waits(); });
  const bool whole = co_await pump.run(source);
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  co_return whole || cancellation.cancelled() == asio::cancellation_type::none;
}

/// False when cancelled.
asio::awaitable<bool> SubnetManager::ask_clients() {
  const auto ports = std::exchange(to_reregister_, {});
  if (ports.empty() || !subnet_ || !decided_.lids || agent_.state() != wire::SmState::master) co_return true;
  const auto subnet = subnet_;
  const auto decided = decided_;
  const PlanInput input{*subnet, decided, *config_};
  const Paths paths(*subnet);
  const auto places = places_of(*subnet, ports);
  std::vector<Guid> asked;
  auto next = places.begin();
  const auto source = [&]() -> std::optional<Job> {
    while (next != places.end()) {
      const auto [guid, place] = *next++;
      const auto& node = *subnet->nodes[place.node];
      const auto wish = wished_port_info(input, node, place.port);
      const auto path = paths.to_port(*subnet, place.node, place.port);
      if (!wish || !path) continue;
      const auto& now = node.ports[place.port.value()].info;
      auto set = port_info_to_set(*wish, now, PortState::no_change);
      set.client_reregister = true;
      const mad::Target target{.route = *path, .node = node.guid(), .m_key = now.m_key};
      const auto modifier = wire::port_info_modifier(place.port, !node.refuses_extended_speeds);
      return Job{mad::set_request(target, set, modifier),
                 [&asked, port = guid](const mad::Answer& answer) -> std::optional<Job> {
                   if (answer) asked.push_back(port);
                   return std::nullopt;
                 }};
    }
    return std::nullopt;
  };
  Pump pump(tx_, parts_.clock, kAskedAtOnce, [this] { return newer_waits(); });
  const bool whole = co_await pump.run(source);
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  if (!asked.empty()) {
    parts_.log.info("sa.reregister")
        .kv("ports", asked.size())
        .kv("not_asked", ports.size() - asked.size())
        .kv("reason", "what their clients had registered is not known");
    if (options_.on_reregistered) options_.on_reregistered(asked);
  }
  co_return whole || cancellation.cancelled() == asio::cancellation_type::none;
}

}  // namespace smd::sm
