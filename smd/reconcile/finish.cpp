// SPDX-License-Identifier: Apache-2.0
#include "smd/reconcile/finish.h"

#include <memory>
#include <utility>

#include "smd/sweep/adaptive.h"
#include "smd/sweep/enforcement.h"
#include "smd/sweep/known_sms.h"
#include "smd/sweep/mft.h"
#include "smd/sweep/silent_hosts.h"
#include "smd/sweep/unmanaged_switches.h"
#include "smd/sweep/unresponsive.h"

namespace smd::sm::inline reconciling {

Subnet with_names(Subnet subnet, const std::map<Guid, std::string>& names) {
  for (auto& node : subnet.nodes) {
    const auto it = names.find(node->guid());
    const auto desired = it != names.end() ? it->second : printable(node->own_description());
    if (desired == node->description) continue;
    auto named = std::make_shared<Node>(*node);
    named->name(desired);
    node = std::move(named);
  }
  for (auto& sm : subnet.other_sms) {
    if (const auto* node = subnet.find(sm.at.node); node != nullptr) sm.node_description = node->description;
  }
  return subnet;
}

asio::awaitable<Subnet> finish(mad::Transactions* tx, TableBaseline* baseline, Subnet found, FinishInput in) {
  found = recall(std::move(found), in.before, in.stored);
  found = with_names(std::move(found), in.names);
  if (in.before != nullptr) found.unmanaged = unmanaged_switches(*in.before, found);
  if (in.before != nullptr) keep_former_sms(found, *in.before);
  found = co_await hold_mfts(tx, std::move(found), in.multicast_entries);
  found = co_await hold_adaptive(tx, std::move(found), in.before, in.adaptive_anew);
  tell_unfollowed(found);
  if (in.before != nullptr) name_unresponsive(found, *in.before);
  if (in.before != nullptr) found.silent_hosts = silent_hosts(*in.before, found);
  // What the fabric had when we became master is what counts.
  const auto* ours = in.adopting ? nullptr : in.before;
  if (in.adopting) baseline->reset();
  if (ours != nullptr) found.unanswered = ours->unanswered;
  baseline->look(found, ours);
  note_enforcement(found, ours);
  co_return found;
}

}  // namespace smd::sm::inline reconciling
