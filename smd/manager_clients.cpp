// SPDX-License-Identifier: Apache-2.0
// What hosts are told between sweeps: that their clients have to register again, and their alias GUIDs.
#include <utility>

#include "smd/apply/advance.h"
#include "smd/apply/apply.h"
#include "smd/manager.h"
#include "smd/plan/client_rounds.h"
#include "smd/plan/table_rounds.h"

namespace smd::sm {

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

/// Plans nothing but `round`, writes it, and notes what the nodes hold now. False when cancelled.
asio::awaitable<bool> SubnetManager::write_round(Round round, Applied* applied) {
  Plan plan;
  plan.rounds.push_back(std::move(round));
  ApplyInput to_write{subnet_, decided_, std::move(plan), [this] { return newer_waits(); }};
  *applied = co_await apply(&tx_, &parts_.clock, std::move(to_write));
  subnet_ = std::make_shared<const Subnet>(advance(*subnet_, decided_, *applied));
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  co_return cancellation.cancelled() == asio::cancellation_type::none;
}

/// Each request is written once, or again where that is not acknowledged. False when cancelled.
asio::awaitable<bool> SubnetManager::write_guids() {
  if (guids_.empty() || !subnet_ || mastership_.state() != wire::SmState::master) co_return true;
  auto part = std::make_shared<const TablePart<wire::GuidInfo>>(decide_guids(*subnet_, guids_));
  decided_.part<wire::GuidInfo>() = part;
  std::set<std::pair<Guid, std::uint8_t>> present, answered;
  const auto key_of = [](const Node& node, PortNum port, std::size_t block) {
    const auto guid = node.is_switch() ? node.guid() : node.ports[port.value()].guid;
    return std::pair{guid, static_cast<std::uint8_t>(block)};
  };
  for (const auto& block : part->blocks)
    present.insert(key_of(*subnet_->find(block.at.node), block.at.port, block.block));
  // What is not there is asked for again when the port is back.
  std::erase_if(guids_, [&](const auto& request) { return !present.contains(request.first); });
  bool going = true;
  auto round = table_round({*subnet_, decided_}, Phase::guid_info);
  if (round.sets() != 0) {
    Applied applied;
    going = co_await write_round(std::move(round), &applied);
    for (const auto& answer : applied.answers<wire::GuidInfo>()) {
      if (answer.held) answered.insert(key_of(*subnet_->nodes[answer.node], answer.port, answer.block));
    }
  }
  for (const auto& block : part->blocks) {
    const auto& node = *subnet_->find(block.at.node);
    const auto& held = node.ports[block.at.port.value()].held<wire::GuidInfo>();
    const auto key = key_of(node, block.at.port, block.block);
    const auto now = guids_.find(key);
    const bool same = now != guids_.end() && now->second == block.content.guids;
    // A Set that was not sent leaves what was written earlier: known, and not what is asked for now.
    const bool holds = held && held->known.test(block.block) && held->row[block.block] == block.content;
    if (same && (holds || answered.contains(key))) guids_.erase(now);
  }
  co_return going;
}

/// False when cancelled.
asio::awaitable<bool> SubnetManager::ask_clients() {
  const auto ports = std::exchange(to_reregister_, {});
  if (ports.empty() || !subnet_ || !decided_.lids || mastership_.state() != wire::SmState::master)
    co_return true;
  auto round = reregister_round({*subnet_, decided_}, ports);
  if (round.ports.empty()) co_return true;
  Applied applied;
  const bool going = co_await write_round(std::move(round), &applied);
  std::vector<Guid> asked;
  for (const auto& answer : applied.ports) {
    const auto& node = *subnet_->nodes[answer.node];
    asked.push_back(node.is_switch() ? node.guid() : node.ports[answer.port.value()].guid);
  }
  if (!asked.empty()) {
    parts_.log.info("sa.reregister")
        .kv("ports", asked.size())
        .kv("not_asked", ports.size() - asked.size())
        .kv("reason", "what their clients had registered is not known");
    if (options_.on_reregistered) options_.on_reregistered(asked);
  }
  co_return going;
}

}  // namespace smd::sm
