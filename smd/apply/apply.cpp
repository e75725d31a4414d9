// SPDX-License-Identifier: Apache-2.0
#include "smd/apply/apply.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <span>

#include "mad/transactions/ask.h"
#include "mad/wire/switch.h"
#include "smd/apply/applier.h"
#include "smd/plan/lft_rounds.h"
#include "smd/plan/m_key_rounds.h"
#include "smd/sweep/not_sent.h"

namespace smd::sm::inline applying {
namespace {

/// Switches whose tables are written side by side: enough to fill the window, few enough to hold their paths.
constexpr std::size_t kSwitchesAtOnce = 64;
constexpr std::size_t kWidth = 512;  ///< handed to the transactions, whose windows are smaller

/// SwitchInfo.LifeTimeValue in time: 4.096 us * 2^code; 20 and above mean for ever, and count as the longest.
mad::Duration packet_lifetime(std::uint8_t code) {
  return std::chrono::nanoseconds(4096) * (1U << std::min<unsigned>(code, 19));
}

/// A round after this one writes forwarding tables.
bool tables_follow(const Plan& plan, const Round& round) {
  const auto later =
      std::span(plan.rounds).subspan(static_cast<std::size_t>(&round - plan.rounds.data()) + 1);
  return std::ranges::find(later, Phase::lft, &Round::phase) != later.end();
}

/// Routes are withdrawn in a round after `round`.
bool drains_later(const Plan& plan, const Round& round) {
  const auto later =
      std::span(plan.rounds).subspan(static_cast<std::size_t>(&round - plan.rounds.data()) + 1);
  return std::ranges::any_of(later, &Round::drain);
}

}  // namespace

Applier::Applier(mad::Transactions& tx, mad::Clock& clock, ApplyInput&& in)
    : tx_(tx),
      clock_(clock),
      in_(std::move(in)),
      paths_(*in_.subnet),
      vl_tables_(*in_.subnet),
      failed_nodes_(in_.subnet->nodes.size()) {
  applied_.drain = in_.drain;
  if (in_.left_out.empty()) return;
  ways_round_.emplace(*in_.subnet, Paths::Avoid{.nodes = in_.left_out, .ports = {}});
  for (NodeIndex i = 0; i < in_.subnet->nodes.size(); ++i)
    failed_nodes_[i] = in_.left_out.contains(in_.subnet->nodes[i]->guid());
}

asio::awaitable<Applied> Applier::run() {
  for (const auto& round : in_.plan.rounds) {
    // What is not a forwarding table need not wait, and must not where more routes are withdrawn after it:
    // those would be waited for a second time.
    const bool waits = !round.drain && (round.phase == Phase::lft || !drains_later(in_.plan, round));
    if (waits) {
      const bool over = co_await drained();
      if (!over) break;
    }
    RequestPipeline pipeline(tx_, clock_, kWidth, in_.urgent);
    const auto failures = applied_.failed.size() + applied_.top_first.size();
    const bool whole = co_await pipeline.run(source(round));
    if (!whole) break;
    applied_.held = pipeline.held();
    if (applied_.held) break;
    const bool links = round.phase == Phase::switch_links || round.phase == Phase::activate_switch_links;
    applied_.cut_short = pipeline.gave_up() && links && tables_follow(in_.plan, round);
    if (applied_.cut_short) break;
    const bool tables = round.phase == Phase::lft || round.phase == Phase::mft;
    if (round.drain) begin_drain();
    if (tables && applied_.failed.size() + applied_.top_first.size() != failures) break;
  }
  co_return std::move(applied_);
}

void Applier::begin_drain() {
  const auto now = clock_.now();
  auto& drain = applied_.drain;
  if (drain.until <= now) drain.since = now;
  drain.until = now + packet_lifetime(in_.decided.settings->life_time_value);
}

/// Links that go down meanwhile take more routes away: better all at once than one after another. But a cable
/// that flaps must not make the others wait for ever. False where it is not over.
asio::awaitable<bool> Applier::drained() {
  constexpr mad::Duration kLook = std::chrono::milliseconds(20), kBurst = std::chrono::milliseconds(500);
  const auto& drain = applied_.drain;
  while (clock_.now() < drain.until) {
    applied_.cut_short = in_.urgent && clock_.now() < drain.since + kBurst && in_.urgent();
    if (applied_.cut_short) co_return false;
    const bool slept = co_await clock_.until(std::min(drain.until, clock_.now() + kLook));
    if (!slept) co_return false;
  }
  co_return true;
}

RequestPipeline::Source Applier::source(const Round& round) {
  if (round.phase == Phase::lft) return lft_source(round);
  if (round.phase == Phase::mft) return mft_source(round);
  if (round.phase == Phase::switch_info) return switch_source(round);
  if (round.writes_tables()) return table_source(round);
  if (round.phase == Phase::adaptive_routing) return adaptive_source(round);
  return port_source(round);
}

/// Blocks of up to kSwitchesAtOnce switches in turn, so that no node's window holds up the others.
RequestPipeline::Source Applier::lft_source(const Round& round) {
  struct Cursor {
    NodeIndex node;
    mad::DirectedPath path;
    std::vector<PartialBlock> blocks;
    std::size_t next = 0, answer = 0;
  };
  struct State {
    std::vector<Cursor> active;
    std::size_t item = 0, turn = 0;
  };
  return [this, &round, state = State{}]() mutable -> std::optional<Job> {
    for (;;) {
      while (state.active.size() < kSwitchesAtOnce && state.item < round.lfts.size()) {
        const auto& item = round.lfts[state.item++];
        const auto path = path_to(item.node);
        if (!path || blocked(item.node, PortNum{0})) {
          applied_.skipped += item.writes();
          continue;
        }
        Cursor cursor{item.node, *path, {}, 0, applied_.lfts.size()};
        item.blocks.for_each([&](std::size_t block) { cursor.blocks.push_back({block, 0, 0}); });
        std::ranges::copy(item.partial, std::back_inserter(cursor.blocks));
        applied_.lfts.push_back({item.node, {}, {}, {}, {}});
        state.active.push_back(std::move(cursor));
      }
      if (state.active.empty()) return std::nullopt;
      state.turn = state.turn < state.active.size() ? state.turn : 0;
      auto& cursor = state.active[state.turn];
      if (cursor.next == cursor.blocks.size() || failed_nodes_[cursor.node]) {
        applied_.skipped += cursor.blocks.size() - cursor.next;
        state.active.erase(state.active.begin() + static_cast<std::ptrdiff_t>(state.turn));
        continue;
      }
      ++state.turn;
      return lft_job(cursor.node, cursor.blocks[cursor.next++], cursor.path, cursor.answer);
    }
  };
}

RequestPipeline::Source Applier::port_source(const Round& round) {
  return [this, &round, next = std::size_t{0}]() mutable -> std::optional<Job> {
    while (next < round.ports.size()) {
      if (auto job = port_job(round.ports[next++], round.phase)) return job;
    }
    return std::nullopt;
  };
}

RequestPipeline::Source Applier::switch_source(const Round& round) {
  return [this, &round, next = std::size_t{0}]() mutable -> std::optional<Job> {
    while (next < round.switch_infos.size()) {
      if (auto job = switch_job(round.switch_infos[next++])) return job;
    }
    return std::nullopt;
  };
}

bool Applier::has_failed(NodeIndex index, PortNum num) const {
  return failed_nodes_[index] || failed_ports_.contains({in_.subnet->nodes[index]->guid(), num});
}

/// It has, or the other end of its link.
bool Applier::blocked(NodeIndex index, PortNum num) const {
  if (has_failed(index, num)) return true;
  const auto& node = *in_.subnet->nodes[index];
  const auto& peer = node.ports[num.value()].peer;
  if (num.value() == 0 || !peer) return false;
  const auto peer_index = in_.subnet->index_of(peer->node);
  return failed_ports_.contains({peer->node, peer->port}) || (peer_index && failed_nodes_[*peer_index]);
}

void Applier::failed(NodeIndex index, PortNum port, std::uint16_t attribute, std::string reason,
                     bool given_up) {
  const auto& node = *in_.subnet->nodes[index];
  const bool whole_node = node.is_switch() && port.value() == 0;
  if (whole_node) failed_nodes_[index] = true;
  if (!whole_node) failed_ports_.insert({node.guid(), port});
  applied_.failed.push_back({index, port, attribute, std::move(reason), given_up});
}

/// A block of a table that others wait for.
void Applier::failed_table(NodeIndex index, std::uint16_t attribute, const mad::RequestError& error) {
  if (error.fault == mad::Fault::timeout) silent(index);
  if (error.fault == mad::Fault::refused) applied_.refusing.push_back(index);
  failed(index, PortNum{0}, attribute, to_string(error), is_given_up(error));
}

bool Applier::is_given_up(const mad::RequestError& error) {
  return error.fault == mad::Fault::closed && error.error == ECANCELED;
}

mad::Request Applier::table_request(mad::Request request) const {
  if (in_.hurry && !in_.patient.contains(request.node)) request.life = tx_.soon(request.node);
  return request;
}

std::optional<mad::DirectedPath> Applier::path_to(NodeIndex node) const {
  const auto round = ways_round_ ? ways_round_->to(node) : std::nullopt;
  return round ? round : paths_.to(node);
}

std::optional<mad::DirectedPath> Applier::path_to_port(NodeIndex node, PortNum port) const {
  const auto round = ways_round_ ? ways_round_->to_port(*in_.subnet, node, port) : std::nullopt;
  return round ? round : paths_.to_port(*in_.subnet, node, port);
}

/// It answers neither a Set nor a Get: nothing more is asked of it in this plan.
void Applier::silent(NodeIndex index) {
  if (std::ranges::find(applied_.silent, index) == applied_.silent.end()) applied_.silent.push_back(index);
  if (failed_nodes_[index]) return;
  failed_nodes_[index] = true;
  tx_.drop_waiting(in_.subnet->nodes[index]->guid());
}

/// With the M_Key that the port has shown: one that is set and not hidden does not keep us out.
mad::Target Applier::target(NodeIndex index, PortNum port, const mad::DirectedPath& path) const {
  return target_of(*in_.subnet->nodes[index], port, path);
}

std::uint32_t Applier::port_modifier(NodeIndex index, PortNum port) const {
  return wire::port_info_modifier(port, !in_.subnet->nodes[index]->refuses_extended_speeds);
}

std::optional<Job> Applier::lft_job(NodeIndex node, const PartialBlock& block, const mad::DirectedPath& path,
                                    std::size_t answer) {
  const auto& is = *in_.subnet->nodes[node];
  const auto* row = in_.decided.routes->find(is.guid());
  if (row == nullptr) return std::nullopt;
  const auto table = block_content(**row, is.lft.row.get(), block);
  const auto modifier = wire::lft_modifier(static_cast<std::uint32_t>(block.block));
  return Job{table_request(mad::set_request(target(node, PortNum{0}, path), table, modifier)),
             [this, node, block, answer, path, table](mad::Answer result) -> std::optional<Job> {
               if (result && result->get<wire::LinearForwardingTable>() != table)
                 return check_lft(node, block, path, answer, table);
               if (result) {
                 lft_done(node, block, answer);
               } else if (result.error().fault == mad::Fault::refused && above_top(node, block.block)) {
                 top_first(node, block.block, answer);
               } else {
                 applied_.lfts[answer].unknown.set(block.block);
                 failed_table(node, wire::LinearForwardingTable::kAttribute, result.error());
               }
               return std::nullopt;
             }};
}

std::optional<Job> Applier::port_job(const PortItem& item, Phase phase) {
  const auto& node = *in_.subnet->nodes[item.node];
  const bool keys = phase == Phase::m_keys;
  auto desired = keys ? next_m_key_step(plan_input(), node, item.port)
                      : desired_port_info(plan_input(), node, item.port);
  // Also of ports without a link, and nothing else of them changes.
  if (phase == Phase::port_orders) desired = node.ports[item.port.value()].info;
  const auto path = path_to_port(item.node, item.port);
  const bool unenforced = unenforced_.contains({node.guid(), item.port});
  const bool nothing_else = unenforced && item.target == PortState::no_change;
  if (!desired || !path || nothing_else || blocked(item.node, item.port)) {
    ++applied_.skipped;
    return std::nullopt;
  }
  if (unenforced) desired->partition_enforce_in = desired->partition_enforce_out = false;
  auto sent = port_info_to_set(*desired, node.ports[item.port.value()].info, item.target);
  if (item.target == PortState::down) sent.phys_state = item.physical;
  sent.client_reregister = phase == Phase::client_reregister;
  return Job{mad::set_request(target(item.node, item.port, *path), sent, port_modifier(item.node, item.port)),
             [this, item, path = *path, sent](mad::Answer result) -> std::optional<Job> {
               if (!result && !sent.client_reregister) return check_port(item, path, sent, result.error());
               if (!result) {
                 failed(item.node, item.port, wire::PortInfo::kAttribute, to_string(result.error()));
                 return std::nullopt;
               }
               applied_.ports.push_back({item.node, item.port, sent, result->get<wire::PortInfo>()});
               return std::nullopt;
             }};
}

/// Was it done all the same? A lost answer, or a resend that came second, looks like a failure. Where the
/// state or the LID is what we asked for and was not before, it was: then fields that differ are not kept.
std::optional<Job> Applier::check_port(const PortItem& item, const mad::DirectedPath& path,
                                       const wire::PortInfo& sent, const mad::RequestError& error) {
  if (was_dropped(error)) return std::nullopt;
  if (could_not_be_sent(error)) {
    failed(item.node, item.port, wire::PortInfo::kAttribute, to_string(error));
    return std::nullopt;
  }
  auto reason = to_string(error);
  return Job{
      mad::get_request<wire::PortInfo>(target(item.node, item.port, path),
                                       port_modifier(item.node, item.port)),
      [this, item, sent, reason = std::move(reason)](mad::Answer result) -> std::optional<Job> {
        bool done = false;
        if (result) {
          const auto info = result->get<wire::PortInfo>();
          auto now = *in_.subnet->nodes[item.node];
          const auto was = now.ports[item.port.value()].info;
          const bool moves = item.target == PortState::armed || item.target == PortState::active;
          const bool lid_moved =
              item.target == PortState::no_change && was.lid != sent.lid && info.lid == sent.lid;
          const bool went_down =
              item.target == PortState::down && info.port_state == PortState::down &&
              (item.physical == PhysState::disabled) == (info.phys_state == PhysState::disabled);
          const bool moved =
              moves ? was.port_state < item.target && info.port_state >= item.target : lid_moved || went_down;
          now.ports[item.port.value()].info = info;
          const auto desired = desired_port_info(plan_input(), now, item.port);
          done = desired && *desired == info && info.port_state >= item.target && info.m_key == sent.m_key &&
                 info.m_key_protect == sent.m_key_protect;
          done = done || moved;
          applied_.ports.push_back({item.node, item.port, moved ? std::optional(sent) : std::nullopt, info});
        }
        if (!done) failed(item.node, item.port, wire::PortInfo::kAttribute, reason);
        if (!result && result.error().fault == mad::Fault::timeout) silent(item.node);
        return std::nullopt;
      }};
}

std::optional<Job> Applier::switch_job(NodeIndex index) {
  const auto& node = *in_.subnet->nodes[index];
  const auto desired = desired_switch_info(plan_input(), node);
  const auto path = path_to(index);
  if (!desired || !path || failed_nodes_[index]) {
    ++applied_.skipped;
    return std::nullopt;
  }
  auto sent = *desired;
  sent.port_state_change = node.switch_info->port_state_change;  // written as 1 it is cleared
  return Job{mad::set_request(target(index, PortNum{0}, *path), sent),
             [this, index, path = *path, sent](mad::Answer result) -> std::optional<Job> {
               if (!result) return check_switch(index, path, sent, result.error());
               applied_.switches.push_back({index, sent, result->get<wire::SwitchInfo>()});
               return std::nullopt;
             }};
}

std::optional<Job> Applier::check_switch(NodeIndex index, const mad::DirectedPath& path,
                                         const wire::SwitchInfo& sent, const mad::RequestError& error) {
  if (was_dropped(error)) return std::nullopt;
  if (could_not_be_sent(error)) {
    failed(index, PortNum{0}, wire::SwitchInfo::kAttribute, to_string(error));
    return std::nullopt;
  }
  auto reason = to_string(error);
  return Job{
      mad::get_request<wire::SwitchInfo>(target(index, PortNum{0}, path)),
      [this, index, sent, reason = std::move(reason)](mad::Answer result) -> std::optional<Job> {
        bool done = false;
        if (result) {
          auto now = *in_.subnet->nodes[index];
          const auto was = now.switch_info->linear_fdb_top;
          now.switch_info = result->get<wire::SwitchInfo>();
          const auto desired = desired_switch_info(plan_input(), now);
          const bool moved =
              was != sent.linear_fdb_top && now.switch_info->linear_fdb_top == sent.linear_fdb_top;
          done = moved || (desired && *desired == *now.switch_info);
          applied_.switches.push_back({index, moved ? std::optional(sent) : std::nullopt, *now.switch_info});
        }
        if (!done) failed(index, PortNum{0}, wire::SwitchInfo::kAttribute, reason);
        if (!result && result.error().fault == mad::Fault::timeout) silent(index);
        return std::nullopt;
      }};
}

// Later Sets of a node would come out of order; after a failed round of tables the rest is safe only on what
// that round was to write. A Get follows a failed Set, because the node may have done it all the same.
asio::awaitable<Applied> apply(mad::Transactions* tx, mad::Clock* clock, ApplyInput in) {
  Applier applier(*tx, *clock, std::move(in));
  co_return co_await applier.run();
}

}  // namespace smd::sm::inline applying
