// SPDX-License-Identifier: Apache-2.0
#include "smd/background/retrainer.h"

#include <algorithm>
#include <array>
#include <memory>
#include <tuple>
#include <utility>

#include "mad/wire/modifier.h"
#include "smd/plan/retrain.h"
#include "smd/report/retraining.h"
#include "smd/schedule/patient_group.h"
#include "smd/sweep/m_key_hints.h"
#include "smd/sweep/paths.h"

namespace smd::sm::inline background {
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
std::vector<PortItem> Retrainer::links_left() const {
  const auto& loop = parts_.loop;
  auto links = links_to_retrain({*loop.subnet(), loop.decided()});
  std::erase_if(links, [&](const PortItem& item) {
    const auto link = link_of(*loop.subnet(), loop.decided(), item);
    return !link || steps_.tries(link->end, link->peer) >= Retraining::kTries;
  });
  return links;
}

asio::awaitable<bool> Retrainer::begin_step() {
  const auto& loop = parts_.loop;
  steps_.swept();
  const bool may =
      parts_.mastership.state() == wire::SmState::master && loop.decided().links && loop.decided().routes;
  if (!may || steps_.under_way() || steps_.stopped()) co_return true;
  const auto all = links_left();
  if (all.empty()) co_return true;
  auto next =
      next_to_retrain(*loop.subnet(), all, with_links_down(*loop.subnet(), loop.stored()->inventory.get()));
  if (next.empty()) {
    log_not_retrained(parts_.log, *loop.subnet(), all);
    steps_.stop();
    co_return true;
  }
  co_return co_await take_down(std::move(next), all.size());
}

/// `next`, of `all` links that are to be taken down. False when cancelled.
asio::awaitable<bool> Retrainer::take_down(std::vector<PortItem> next, std::size_t all) {
  auto& loop = parts_.loop;
  std::vector<Retraining::Link> links;
  for (const auto& item : next) {
    if (auto link = link_of(*loop.subnet(), loop.decided(), item)) links.push_back(*link);
  }
  co_await loop.keep(with_retrained(links, true));
  log_retraining(parts_.log, *loop.subnet(), links, all);
  loop.take_down(std::move(next));
  const auto ran = co_await loop.run({.parts = {Part::retraining}});
  if (ran.cancelled) co_return false;
  steps_.begin(std::move(links), parts_.scheduler.clock().now());
  auto& agenda = parts_.scheduler.agenda();
  for (const auto& link : steps_.links()) {
    agenda.look_at(link.end.node, "links.retrain");
    if (loop.subnet()->find(link.peer.node)->is_switch()) agenda.look_at(link.peer.node, "links.retrain");
  }
  co_return true;
}

/// The links of a step are (not) to be taken down again, by this process or a later one.
StoredPtr Retrainer::with_retrained(const std::vector<Retraining::Link>& links, bool done) const {
  auto stored = std::make_shared<Stored>(*parts_.loop.stored());
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
asio::awaitable<void> Retrainer::look() {
  const auto subnet = parts_.loop.subnet();
  const Paths paths(*subnet);
  PatientGroup group(parts_.executor, parts_.scheduler);
  for (auto& link : steps_.links()) {
    const auto index = subnet->index_of(link.end.node);
    const auto path = index ? paths.to_port(*subnet, *index, link.end.port) : std::nullopt;
    if (link.up || !path) continue;
    group.spawn(look_at_link(target_of(*subnet->nodes[*index], link.end.port, *path), &link));
  }
  co_await group.finish();
  const auto now = parts_.scheduler.clock().now();
  steps_.looked(now);
  if (steps_.over(now)) co_await end_step();
}

asio::awaitable<void> Retrainer::look_at_link(mad::Target target, Retraining::Link* link) {
  const auto* node = parts_.loop.subnet()->find(link->end.node);
  const bool extended = node == nullptr || !node->refuses_extended_speeds;
  auto request = mad::get_request<wire::PortInfo>(target, wire::port_info_modifier(link->end.port, extended));
  request.single_try = parts_.config->mad.timeout;
  const auto info = co_await mad::ask<wire::PortInfo>(&parts_.tx, std::move(request));
  if (!info || info->port_state == PortState::down) co_return;
  link->up = true;
  link->within = within(*info, link->enabled);
}

asio::awaitable<void> Retrainer::end_step() {
  const auto links = steps_.end();
  std::vector<Retraining::Link> down, again, outside;
  for (const auto& link : links) {
    parts_.scheduler.agenda().look_at(link.end.node, "link trained");
    parts_.scheduler.agenda().look_at(link.peer.node, "link trained");
    if (!link.up) down.push_back(link);
    if (!link.up || link.within) continue;
    (steps_.tries(link.end, link.peer) < Retraining::kTries ? again : outside).push_back(link);
  }
  log_outside_limits(parts_.log, *parts_.loop.subnet(), again, outside);
  if (!down.empty()) {
    log_still_down(parts_.log, *parts_.loop.subnet(), down);
    steps_.stop();
  }
  if (!again.empty()) co_await parts_.loop.keep(with_retrained(again, false));
}

}  // namespace smd::sm::inline background
