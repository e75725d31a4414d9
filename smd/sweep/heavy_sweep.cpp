// SPDX-License-Identifier: Apache-2.0
#include "smd/sweep/heavy_sweep.h"

#include <algorithm>

#include "smd/sweep/discovery_session.h"
#include "smd/sweep/unresponsive.h"

namespace smd::sm::inline sweeping {
namespace {

/// False when cancelled.
asio::awaitable<bool> explore(DiscoverySession* survey) {
  survey->start(survey->visit(std::nullopt, {}));
  bool going = co_await survey->settle();
  while (going) {
    const bool reads = survey->begin_reads();
    if (reads) going = co_await survey->settle_new();
    const bool probes = going && survey->begin_probes();
    if (probes) going = co_await survey->settle_new();
    if (reads || probes) continue;
    if (survey->idle()) break;
    going = co_await survey->settle();
  }
  co_return going;
}

Subnet finish(DiscoverySession& survey, const Subnet* before) {
  for (const auto& found : survey.findings.nodes()) {
    const auto* was = before != nullptr ? before->find(found->node.guid()) : nullptr;
    // A node that is as we left it still does not keep what it did not keep; after a restart it may.
    if (was != nullptr && same_incarnation(*was, found->node)) found->node.not_kept = was->not_kept;
  }
  auto subnet = make_subnet(std::move(survey.findings), *survey.self, before);
  sort_by_place(survey.unresponsive);
  subnet.unresponsive = std::move(survey.unresponsive);
  std::ranges::sort(survey.other_sms, {},
                    [](const OtherSm& sm) { return std::tuple{sm.at.node, sm.at.port}; });
  subnet.other_sms = std::move(survey.other_sms);
  return subnet;
}

/// Of the places in conflict those that are not where the GUID was before; empty without such history.
std::set<std::pair<Guid, PortNum>> newcomers(const DiscoveryState& findings, const Subnet* before) {
  std::set<std::pair<Guid, PortNum>> places;
  for (const auto& [guid, ports] : findings.conflicts()) {
    const auto* was = before != nullptr ? before->find(guid) : nullptr;
    if (was == nullptr) continue;
    const auto had = [&](const PeerPort& place) {
      return std::ranges::any_of(was->ports, [&](const Port& port) { return port.peer == place; });
    };
    if (std::ranges::none_of(ports, had)) continue;
    for (const auto& place : ports) {
      if (!had(place) && place.node != guid) places.insert({place.node, place.port});
    }
  }
  return places;
}

}  // namespace

asio::awaitable<std::expected<Subnet, std::string>> heavy_sweep(mad::Transactions* tx, mad::Clock* clock,
                                                                const Subnet* before, SweepOptions options) {
  const auto executor = co_await asio::this_coro::executor;
  std::set<std::pair<Guid, PortNum>> excluded;
  std::vector<DuplicateGuid> kept_out;
  for (;;) {
    DiscoverySession survey(*tx, *clock, executor, before, options, DiscoveryState(excluded));
    const bool whole = co_await explore(&survey);
    co_await survey.stop();
    if (!whole) co_return std::unexpected("cancelled");
    const auto late = newcomers(survey.findings, before);
    const auto known = excluded.size();
    excluded.insert(late.begin(), late.end());
    // The incumbent may have been read by the newcomer's way: once more, without the newcomer.
    if (excluded.size() != known) {
      for (const auto& [guid, places] : survey.findings.conflicts()) kept_out.push_back({guid, places});
      continue;
    }
    if (!survey.self) co_return std::unexpected(survey.own_port_error);
    auto subnet = finish(survey, before);
    subnet.duplicates.insert(subnet.duplicates.end(), kept_out.begin(), kept_out.end());
    co_return subnet;
  }
}

}  // namespace smd::sm::inline sweeping
