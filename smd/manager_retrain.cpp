// SPDX-License-Identifier: Apache-2.0
// Links that came up outside their limits are taken down in steps, between sweeps: other work goes on while
// they train, and routes lead round them.
#include <algorithm>
#include <array>
#include <memory>
#include <tuple>
#include <utility>

#include "mad/transactions/ask.h"
#include "mad/wire/modifier.h"
#include "smd/manager.h"
#include "smd/plan/retrain.h"
#include "smd/report/retraining.h"
#include "smd/sweep/paths.h"

namespace smd::sm {
namespace {

std::optional<Retraining::Link> link_of(const Subnet& subnet, const Decided& decided, const PortItem& item) {
  const auto& node = *subnet.nodes[item.node];
  const auto& peer = node.ports[item.port.value()].peer;
  const auto far = peer ? subnet.index_of(peer->node) : std::nullopt;
  if (!far) return std::nullopt;
  const auto& here = decided.links->ports[item.node][item.port.value()];
  const auto& there = decided.links->ports[*far][peer->port.value()];
  if (!here || !there) return std::nullopt;
  return Retraining::Link{.end = {node.guid(), item.port},
                          .peer = {peer->node, peer->port},
                          .enabled = here->enabled,
                          .peer_enabled = there->enabled};
}

/// Switches of which a link to another switch is lost, or does not carry traffic yet.
std::set<Guid> with_links_down(const Subnet& subnet, const Inventory* known) {
  std::set<Guid> down;
  const auto is_switch = [&](Guid guid) {
    const auto* node = subnet.find(guid);
    return node != nullptr && node->is_switch();
  };
  for (const auto& node : subnet.nodes) {
    const auto waits = [&](const Port& port) {
      return port.peer && port.info.port_state != PortState::active && is_switch(port.peer->node);
    };
    if (node->is_switch() && std::ranges::any_of(node->ports, waits)) down.insert(node->guid());
  }
  if (known == nullptr) return down;
  for (const auto& [end, since] : known->lost_links()) {
    const auto* link = known->find(end);
    if (link == nullptr || !is_switch(end.node) || !is_switch(link->peer.node)) continue;
    down.insert({end.node, link->peer.node});
  }
  return down;
}

}  // namespace

/// An end of each link that may be taken down still.
std::vector<PortItem> SubnetManager::links_to_retrain() const {
  auto links = sm::links_to_retrain({*loop_.subnet(), loop_.decided()});
  std::erase_if(links, [this](const PortItem& item) {
    const auto link = link_of(*loop_.subnet(), loop_.decided(), item);
    return !link || retraining_.tries(link->end, link->peer) >= Retraining::kTries;
  });
  return links;
}

/// After a sweep. False when cancelled.
asio::awaitable<bool> SubnetManager::retrain_some() {
  retraining_.swept();
  const bool may =
      mastership_.state() == wire::SmState::master && loop_.decided().links && loop_.decided().routes;
  if (options_.dry_run || !may || retraining_.under_way() || retraining_.stopped()) co_return true;
  const auto all = links_to_retrain();
  if (all.empty()) co_return true;
  auto next = next_to_retrain(*loop_.subnet(), all,
                              with_links_down(*loop_.subnet(), loop_.stored()->inventory.get()));
  if (next.empty()) {
    log_not_retrained(parts_.log, *loop_.subnet(), all);
    retraining_.stop();
    co_return true;
  }
  std::vector<Retraining::Link> links;
  for (const auto& item : next) {
    if (auto link = link_of(*loop_.subnet(), loop_.decided(), item)) links.push_back(*link);
  }
  co_await loop_.keep(with_retrained(links, true));
  log_retraining(parts_.log, *loop_.subnet(), links, all.size());
  loop_.take_down(std::move(next));
  const auto ran = co_await loop_.run({.parts = {Part::retraining}});
  if (ran.cancelled) co_return false;
  retraining_.begin(std::move(links), parts_.clock.now());
  for (const auto& link : retraining_.links()) {
    agenda_.look_at(link.end.node, "links.retrain");
    if (loop_.subnet()->find(link.peer.node)->is_switch()) agenda_.look_at(link.peer.node, "links.retrain");
  }
  co_return true;
}

/// The links of a step are (not) to be taken down again, by this process or a later one.
StoredPtr SubnetManager::with_retrained(const std::vector<Retraining::Link>& links, bool done) const {
  auto stored = std::make_shared<Stored>(*loop_.stored());
  for (const auto& link : links) {
    const std::array keys{std::tuple{link.end.node, link.end.port, link.enabled},
                          std::tuple{link.peer.node, link.peer.port, link.peer_enabled}};
    for (const auto& key : keys) {
      if (std::get<EnabledLinks>(key) == EnabledLinks{}) continue;  // taken down for its VLs
      if (done) stored->retrained.insert(key);
      if (!done) stored->retrained.erase(key);
    }
  }
  return stored;
}

/// Are the links of the step up again?
asio::awaitable<void> SubnetManager::look_at_retraining() {
  const auto subnet = loop_.subnet();
  const Paths paths(*subnet);
  mad::TaskGroup group(parts_.executor);
  std::size_t open = 0;
  for (auto& link : retraining_.links()) {
    const auto index = subnet->index_of(link.end.node);
    const auto path = index ? paths.to_port(*subnet, *index, link.end.port) : std::nullopt;
    if (link.up || !path) continue;
    ++open;
    group.spawn(counted(look_at_link({.route = *path, .node = link.end.node}, &link), &open));
  }
  co_await finish_or_give_way(&group, &open);
  const auto now = parts_.clock.now();
  retraining_.looked(now);
  if (retraining_.over(now)) co_await end_retraining_step();
}

asio::awaitable<void> SubnetManager::look_at_link(mad::Target target, Retraining::Link* link) {
  const auto* node = loop_.subnet()->find(link->end.node);
  const bool extended = node == nullptr || !node->refuses_extended_speeds;
  auto request = mad::get_request<wire::PortInfo>(target, wire::port_info_modifier(link->end.port, extended));
  request.single_try = config_->mad.timeout;
  const auto info = co_await mad::ask<wire::PortInfo>(&tx_, std::move(request));
  if (!info || info->port_state == PortState::down) co_return;
  link->up = true;
  link->within = within(*info, link->enabled);
}

asio::awaitable<void> SubnetManager::end_retraining_step() {
  const auto links = retraining_.end();
  std::vector<Retraining::Link> down, again, outside;
  for (const auto& link : links) {
    agenda_.look_at(link.end.node, "link trained");
    agenda_.look_at(link.peer.node, "link trained");
    if (!link.up) down.push_back(link);
    if (!link.up || link.within) continue;
    (retraining_.tries(link.end, link.peer) < Retraining::kTries ? again : outside).push_back(link);
  }
  log_outside_limits(parts_.log, *loop_.subnet(), again, outside);
  if (!down.empty()) {
    log_still_down(parts_.log, *loop_.subnet(), down);
    retraining_.stop();
  }
  if (!again.empty()) co_await loop_.keep(with_retrained(again, false));
}

}  // namespace smd::sm
