// SPDX-License-Identifier: Apache-2.0
#include "smd/ha/sm_lookup.h"

#include <algorithm>
#include <utility>

#include "mad/transactions/ask.h"
#include "mad/wire/capability.h"
#include "mad/wire/node.h"

namespace smd::sm::inline availability {
namespace {

constexpr auto kCounts = std::chrono::milliseconds(100);
constexpr std::size_t kMostPorts = 1024, kMostWaiting = 64;

}  // namespace

std::optional<mad::DirectedPath> path_back(const wire::Smp& request) {
  const std::size_t hops = request.hop_count();
  if (hops == 0 || hops > wire::Smp::kMaxHops) return std::nullopt;
  mad::DirectedPath path;
  for (std::size_t hop = hops; hop > 0; --hop) path = *path.then(request.return_path(hop));
  return path;
}

std::optional<PeerPort> port_at(const Subnet& subnet, const mad::DirectedPath& path) {
  PeerPort at{subnet.sm_node, subnet.sm_port};
  for (std::size_t hop = 0; hop < path.hops(); ++hop) {
    const auto* node = subnet.find(at.node);
    if (node == nullptr || path.hop(hop).value() >= node->ports.size()) return std::nullopt;
    const auto& peer = node->ports[path.hop(hop).value()].peer;
    if (!peer) return std::nullopt;
    at = *peer;
  }
  return at;
}

void SmLookup::look_up(const Sender& sender, const std::function<std::optional<mad::Target>()>& route,
                       std::vector<Guid> allowed, Answer answer) {
  Key key;
  if (!sender.back)
    key = {0, static_cast<std::uint8_t>(sender.lid.value() >> 8U),
           static_cast<std::uint8_t>(sender.lid.value())};
  for (std::size_t hop = 0; sender.back && hop < sender.back->hops(); ++hop)
    key.push_back(sender.back->hop(hop).value());  // ports of a route are never 0
  if (const auto known = entries_.find(key); known != entries_.end()) {
    auto& entry = known->second;
    if (entry.open && entry.waiting.size() < kMostWaiting) return entry.waiting.push_back(std::move(answer));
    if (entry.open) return answer(false);
    if (clock_.now() - entry.read < kCounts) return answer(entry.is_sm);
    entries_.erase(known);
  }
  const auto to = make_room() ? route() : std::nullopt;
  if (!to) return answer(false);
  entries_[key].waiting.push_back(std::move(answer));
  tasks_.spawn(read(key, *to, std::move(allowed)));
}

bool SmLookup::make_room() {
  if (entries_.size() < kMostPorts) return true;
  const auto now = clock_.now();
  std::erase_if(entries_,
                [now](const auto& row) { return !row.second.open && now - row.second.read >= kCounts; });
  return entries_.size() < kMostPorts;
}

asio::awaitable<void> SmLookup::read(Key key, mad::Target target, std::vector<Guid> allowed) {
  const auto info = co_await mad::get<wire::PortInfo>(tx_, target);
  bool is_sm = info && (info->capability_mask & wire::kCapIsSm) != 0;
  if (is_sm && !allowed.empty()) {
    const auto node = co_await mad::get<wire::NodeInfo>(tx_, target);
    is_sm = node && std::ranges::find(allowed, node->port) != allowed.end();
  }
  auto& entry = entries_[key];
  entry.open = false;
  entry.is_sm = is_sm;
  entry.read = clock_.now();
  for (auto& answer : std::exchange(entry.waiting, {})) answer(is_sm);
}

}  // namespace smd::sm::inline availability
