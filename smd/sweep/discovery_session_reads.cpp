// SPDX-License-Identifier: Apache-2.0
// What discovery asks each node, and what it makes of the answers.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "mad/wire/capability.h"
#include "mad/wire/modifier.h"
#include "mad/wire/tables.h"
#include "mad/wire/vendor.h"
#include "smd/sweep/discovery_session.h"
#include "smd/sweep/end_ports.h"
#include "smd/sweep/enforcement.h"
#include "smd/sweep/mft.h"
#include "smd/sweep/not_sent.h"
#include "smd/sweep/pkeys.h"

namespace smd::sm::inline sweeping {
namespace {

/// So many blocks of a switch's LFT are asked for at once: as many as Policy::per_node lets through unless
/// told otherwise. Of 44,000 hosts all switches have 2.9 million blocks, and each that waits takes a
/// kilobyte.
constexpr std::size_t kLftReaders = 16;

/// For the transactions, while it is not known who is there.
std::uint64_t place_number(const PeerPort& place) {
  return (place.node.value() * 0x9E3779B97F4A7C15U) ^ place.port.value();
}

/// Not reset since: the LID and LinearFDBTop are gone then.
bool still_in_service(const Node& now, const Node& before) {
  return now.switch_info && before.switch_info && now.switch_info->linear_fdb_top != 0 &&
         now.switch_info->linear_fdb_top == before.switch_info->linear_fdb_top;
}

/// The port that keeps the M_Key: of a switch port 0.
Port& keeper_of(Node& node, PortNum port) { return node.ports[node.is_switch() ? 0 : port.value()]; }

/// Of a port that has answered a question with the M_Key `tried` before it has shown its own.
void expect_m_key(Node& node, PortNum port, const std::vector<std::uint64_t>& likely, std::uint64_t tried) {
  auto& info = keeper_of(node, port).info;
  if (info.m_key != 0) return;
  const bool may_be = likely.empty() || std::ranges::find(likely, tried) != likely.end();
  info.m_key = may_be ? tried : likely.front();
}

/// FDR10 shows as QDR in PortInfo. Only links of Mellanox devices that know extended speeds can be it.
bool may_be_fdr10(const Node& node, const wire::PortInfo& info) {
  return wire::is_nvidia(node.info.vendor_id) && info.link_speed_active == 4 &&
         info.link_speed_ext_active == 0 && info.link_speed_ext_supported != 0;
}

/// Takes over the tables that no sweep reads; `before` null: none is known.
void keep_idle_tables(Port& port, const Port* before) {
  for_each_table([&]<class A>() {
    if (TableKind<A>::kRead == TableRead::sweep) return;
    port.template held<A>() = before != nullptr ? before->template held<A>() : nullptr;
  });
}

}  // namespace

void DiscoverySession::report_error(const FoundNode& found, PortNum port, const mad::RequestError& error) {
  if (was_dropped(error)) return;
  unresponsive.push_back(
      {{found.node.guid(), port}, found.node.guid(), to_string(error), raw_name(found.node)});
}

/// Lets a few through; the rest once one of them is answered. False: the node does not answer these, or we
/// are cancelled.
asio::awaitable<bool> DiscoverySession::may_ask(FoundNode* found, std::uint16_t attribute) {
  auto& probation = found->probation[attribute];
  while (!probation.proven() && !probation.given_up() && probation.open >= Probation::kAtOnce) {
    const bool woken = co_await probation.waiting.wait();
    if (!woken) co_return false;
  }
  if (probation.given_up()) co_return false;
  ++probation.open;
  co_return true;
}

void DiscoverySession::asked(FoundNode& found, std::uint16_t attribute, const mad::RequestError* error) {
  auto& probation = found.probation[attribute];
  --probation.open;
  ++(error != nullptr && error->fault == mad::Fault::timeout ? probation.silent : probation.answered);
  probation.waiting.wake_all();
}

/// With each M_Key that the port there may have, until one is answered: a port that is protected by level 2
/// or 3 answers nothing else.
asio::awaitable<mad::Asked<wire::NodeInfo>> DiscoverySession::ask_who(std::optional<PeerPort> from,
                                                                      mad::DirectedPath path,
                                                                      std::uint64_t* m_key) {
  mad::Asked<wire::NodeInfo> info = std::unexpected(mad::RequestError{.fault = mad::Fault::timeout});
  const auto keys = options_.m_keys.at(before_, from);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    auto request = mad::get_request<wire::NodeInfo>({.route = path, .m_key = keys[i]});
    // A place of its own for each try: the one before has shown that the place is silent.
    request.place = from ? place_number(*from) ^ (std::uint64_t{i} << 32U) : 0;
    *m_key = keys[i];
    info = co_await mad::ask<wire::NodeInfo>(&tx_, std::move(request));
    if (info || info.error().fault != mad::Fault::timeout) break;
  }
  co_return info;
}

asio::awaitable<void> DiscoverySession::visit(std::optional<PeerPort> from, mad::DirectedPath path) {
  const auto behind = from.value_or(PeerPort{});
  std::uint64_t m_key = 0;
  const auto info = co_await ask_who(from, path, &m_key);
  if (!info) {
    if (!from) own_port_error = to_string(info.error());
    if (from && !was_dropped(info.error())) {
      unresponsive.push_back({behind, Guid{}, to_string(info.error())});
    }
    co_return;
  }
  if (!from) self = PeerPort{info->node, info->type == NodeType::switch_ ? PortNum{0} : info->local_port};
  std::string nonsense;
  const auto read = findings.arrived(*info, from, path, nonsense);
  if (!nonsense.empty()) {
    if (!from) own_port_error = nonsense, self.reset();
    if (from) unresponsive.push_back({behind, info->node, std::move(nonsense)});
    co_return;
  }
  if (!read) co_return;
  const auto guid = info->type == NodeType::switch_ ? info->node : info->port;
  expect_m_key(read->found->node, info->local_port, options_.m_keys.of(guid), m_key);
  to_read_.push_back(*read);
  if (read->whole && (info->type == NodeType::switch_ || !from)) may_probe.push_back(read->found);
}

asio::awaitable<void> DiscoverySession::read_description(FoundNode* node) {
  auto& found = *node;
  auto description = co_await ask<wire::NodeDescription>(node, PortNum{0}, found.path, 0);
  if (!description) {
    const auto* before = before_ != nullptr ? before_->find(found.node.guid()) : nullptr;
    if (before != nullptr) {
      found.node.description = before->description;
      found.node.reported = before->reported;
    }
    report_error(found, PortNum{0}, description.error());
    co_return;
  }
  found.node.description = description->text;
  found.node.name(printable(description->text));
}

asio::awaitable<void> DiscoverySession::read_node_info(FoundNode* node) {
  auto& found = *node;
  const auto info = co_await ask<wire::NodeInfo>(node, PortNum{0}, found.path, 0);
  if (!info) {
    report_error(found, PortNum{0}, info.error());
    co_return;
  }
  const bool same = info->node == found.node.guid() && info->num_ports == found.node.info.num_ports;
  if (!same) other_node = fmt::format("{} answers where {} was", info->node, found.node.guid());
  if (same) found.node.info.system_image = info->system_image;
}

asio::awaitable<void> DiscoverySession::read_switch(FoundNode* node) {
  auto& found = *node;
  const auto info = co_await ask<wire::SwitchInfo>(node, PortNum{0}, found.path, 0);
  if (!info) report_error(found, PortNum{0}, info.error());
  if (info) found.node.switch_info = *info;
  co_await clear_change(node);
  co_await read_switch_rest(node);
}

asio::awaitable<void> DiscoverySession::clear_change(FoundNode* node) {
  auto& info = node->node.switch_info;
  if (!options_.clear_changes || !info || !info->port_state_change) co_return;
  // Written as it is: 1 clears the bit. Where that fails it is written once more with all that is decided.
  const auto target = target_of(node->node, PortNum{0}, node->path);
  const auto cleared = co_await mad::set<wire::SwitchInfo>(tx_, target, *info);
  if (cleared) info = *cleared;
}

asio::awaitable<void> DiscoverySession::read_switch_rest(FoundNode* node) {
  auto& found = *node;
  co_await read_port(node, PortNum{0}, found.path);
  for (std::size_t p = 1; p < found.node.ports.size(); ++p) {
    start(read_port(node, PortNum{static_cast<std::uint8_t>(p)}, found.path));
  }
  if (found.node.switch_info) co_await read_lft(node);
}

asio::awaitable<void> DiscoverySession::read_lft(FoundNode* node) {
  auto& found = *node;
  const auto* before = before_ != nullptr ? before_->find(found.node.guid()) : nullptr;
  if (before != nullptr && tables_stand(found, *before)) {
    found.node.lft = before->lft;
    found.node.mft = before->mft;
    found.node.ar_known = before->ar_known;
    found.node.ar_info = before->ar_info;
    for (std::size_t p = 0; p < found.node.ports.size(); ++p)
      keep_idle_tables(found.node.ports[p], &before->ports[p]);
    read_unknown_blocks(node);
    co_return;
  }
  for (auto& port : found.node.ports) keep_idle_tables(port, nullptr);
  found.node.lft = {};
  found.node.mft = {};
  found.node.ar_known = ArKnown::not_asked;
  found.node.ar_info = nullptr;
  const auto& info = *found.node.switch_info;
  // Nothing is forwarded yet: every block will be written, and after a reset no MLID has a port.
  if (info.linear_fdb_top == 0) {
    found.node.mft.known = found.node.mft.asked = all_mft_parts(found.node);
    found.node.ar_known = ArKnown::asked;  // adaptive routing is off after a reset, too
    co_return;
  }
  const unsigned last =
      std::min({unsigned{info.linear_fdb_top}, info.linear_fdb_cap == 0 ? 0U : info.linear_fdb_cap - 1U,
                unsigned{kLastUnicastLid.value()}});
  auto row = std::make_shared<routing::LftRow>((last / routing::kLftBlock + 1) * routing::kLftBlock,
                                               routing::kNoRoute);
  found.node.lft.row = row;
  std::vector<std::size_t> blocks(last / routing::kLftBlock + 1);
  std::iota(blocks.begin(), blocks.end(), std::size_t{0});
  read_blocks({.node = &found, .row = row, .blocks = std::move(blocks)});
}

/// Blocks whose Set had no answer hold what they held, or what was sent: rounds are proven with what is
/// there.
void DiscoverySession::read_unknown_blocks(FoundNode* node) {
  auto& lft = node->node.lft;
  const auto blocks = lft.row->size() / routing::kLftBlock;
  if (lft.known.count() == blocks) return;
  auto row = std::make_shared<routing::LftRow>(*lft.row);
  std::vector<std::size_t> unknown;
  for (std::size_t block = 0; block < blocks; ++block) {
    if (!lft.known.test(block)) unknown.push_back(block);
  }
  lft.row = row;
  read_blocks({.node = node, .row = std::move(row), .blocks = std::move(unknown)});
}

void DiscoverySession::read_blocks(LftReading reading) {
  const auto shared = std::make_shared<LftReading>(std::move(reading));
  for (std::size_t i = 0; i < std::min(kLftReaders, shared->blocks.size()); ++i)
    start(read_next_blocks(shared));
}

asio::awaitable<void> DiscoverySession::read_next_blocks(std::shared_ptr<LftReading> reading) {
  auto& found = *reading->node;
  while (reading->next < reading->blocks.size()) {
    const auto block = reading->blocks[reading->next++];
    const auto table = co_await ask<wire::LinearForwardingTable>(
        &found, PortNum{0}, found.path, wire::lft_modifier(static_cast<std::uint32_t>(block)));
    ++completed_;
    if (!table) {
      report_error(found, PortNum{0}, table.error());
      if (was_dropped(table.error())) co_return;
      continue;
    }
    const auto first = reading->row->begin() + static_cast<std::ptrdiff_t>(block * routing::kLftBlock);
    std::ranges::transform(table->ports, first, [](PortNum port) { return port.value(); });
    found.node.lft.known.set(block);
  }
}

asio::awaitable<void> DiscoverySession::read_port(FoundNode* node, PortNum port, mad::DirectedPath path,
                                                  bool hint) {
  auto& found = *node;
  const bool may = co_await may_ask(node, wire::PortInfo::kAttribute);
  if (!may) co_return keep_port(found, port);
  auto target = target_of(found.node, port, path);
  if (hint) target.life = tx_.soon(found.node.guid());
  auto known = found.node.extended_speeds();
  // A hint is no reason to ask twice, and who is new may not know bit 31.
  const bool is_new = before_ == nullptr || before_->find(found.node.guid()) == nullptr;
  if (is_new && !hint && known != mad::ExtendedSpeeds::refused) known = mad::ExtendedSpeeds::unknown;
  const auto answer = co_await mad::get_port_info(&tx_, target, port, known);
  const auto& info = answer.info;
  if (hint && !info) co_return;
  asked(found, wire::PortInfo::kAttribute, info ? nullptr : &info.error());
  found.node.refuses_extended_speeds |= answer.refuses;
  auto& slot = found.node.ports[port.value()];
  if (!info) {
    report_error(found, port, info.error());
    co_return keep_port(found, port);
  }
  slot.info = *info;
  slot.known = true;
  found.outdated.erase(port);
  if (found.node.is_switch()) slot.guid = found.node.guid();
  if (!found.node.is_switch()) keep_tables_that_stand(found, port);
  const bool end_port = port.value() == 0 || !found.node.is_switch();
  if (end_port && info->m_key == 0 && info->m_key_protect != 0) co_await find_m_key(node, port, target);
  if (port.value() != 0 && !slot.linked()) co_return;
  if (may_be_fdr10(found.node, *info)) start(read_fdr10(&found, port, path));
  const bool ourselves = self->node == found.node.guid() && self->port == port;
  if (end_port && !ourselves && (info->capability_mask & wire::kCapIsSm) != 0) {
    start(read_sm_info(&found, port, path));
  }
  if (pkeys_stand(found, port)) co_return;
  co_await read_pkeys(&found, port, path);
}

/// The port hides its M_Key from who shows another one. Level 1 answers Gets all the same: a key that it
/// shows then is the right one.
asio::awaitable<void> DiscoverySession::find_m_key(FoundNode* node, PortNum port, mad::Target target) {
  const auto guid = port_guid(node->node, port);
  const auto tried = target.m_key;
  for (const auto key : options_.m_keys.of(guid)) {
    if (key == tried) continue;
    target.m_key = key;
    const auto answer = co_await mad::get_port_info(&tx_, target, port, node->node.extended_speeds());
    if (!answer.info) co_return;
    if (answer.info->m_key == 0) continue;
    node->node.ports[port.value()].info = *answer.info;
    co_return;
  }
}

/// A port in service that did not answer is as it was; else all that is behind it would be lost by one
/// time-out. Not where it may have been reset: of a CA the other end of the link tells.
void DiscoverySession::keep_port(FoundNode& found, PortNum port) const {
  auto& slot = found.node.ports[port.value()];
  const auto* node = before_ != nullptr ? before_->find(found.node.guid()) : nullptr;
  const auto* was = node != nullptr ? node->port(port) : nullptr;
  if (slot.known || was == nullptr || !was->known || was->info.port_state != PortState::active) return;
  const auto* near = slot.peer ? findings.find(slot.peer->node) : nullptr;
  const auto* other = near != nullptr ? near->node.port(slot.peer->port) : nullptr;
  const bool in_service = found.node.is_switch() ? still_in_service(found.node, *node)
                                                 : other != nullptr && was->peer == slot.peer &&
                                                       other->info.port_state == PortState::active;
  if (!in_service) return;
  const auto peer = slot.peer;
  slot = *was;
  slot.peer = peer;
}

/// Of a CA or router: a port that is up with its LID has not been reset.
void DiscoverySession::keep_tables_that_stand(FoundNode& found, PortNum port) const {
  auto& slot = found.node.ports[port.value()];
  const auto* before = port_before(found, port);
  if (before == nullptr) return keep_idle_tables(slot, nullptr);
  const auto& was = *before;
  const auto& now = slot.info;
  // Some adapters show their old LID after a reset: they are in Init then.
  const bool stands = was.info.lid == now.lid && now.lid.unicast() && now.port_state != PortState::init;
  keep_idle_tables(slot, stands ? &was : nullptr);
}

/// The port as the Subnet has it that this sweep goes on from; null: its tables may be of another SM, or it
/// is new.
const Port* DiscoverySession::port_before(const FoundNode& found, PortNum port) const {
  const auto* node = before_ != nullptr && options_.trust_tables ? before_->find(found.node.guid()) : nullptr;
  return node != nullptr && port.value() < node->ports.size() ? &node->ports[port.value()] : nullptr;
}

/// Only we write them, and the port has not been down.
bool DiscoverySession::pkeys_stand(const FoundNode& found, PortNum port) const {
  const auto* before = port_before(found, port);
  if (before == nullptr) return false;
  const auto& was = *before;
  const auto& now = found.node.ports[port.value()];
  const auto& held = was.held<wire::PKeyTable>();
  if (!held || now.held<wire::PKeyTable>() != held) return false;
  // SwitchInfo, which says how many blocks there are, was not answered then.
  if (held->row.size() != TableKind<wire::PKeyTable>::blocks(found.node, port).count()) return false;
  // A block was not answered: by it a port may go Active with the keys that its reset left, and a key move.
  // A switch that never answers would keep out all that is behind it.
  const bool lacks_an_answer = !held->known.contains(held->asked);
  if (options_.pkeys_matter && !found.node.is_switch() && lacks_an_answer) return false;
  return was.info.port_state == now.info.port_state && was.info.lid == now.info.lid;
}

/// Behind a first block that is as made. An SM may have taken all keys of the first block away and left later
/// ones. A port in service may be of any SM; one that begins anew has lost its table as a rule, and three
/// more Gets for each host would be much at a cold start: it is read where a further block is known to have
/// been written, else the audit finds what is there.
bool DiscoverySession::may_have_further_pkeys(const Node& node, PortNum port) const {
  if (vl_tables_in_use(node, port) || enforces(node.ports[port.value()].info)) return true;
  return is_end_port(node, port) && options_.had_further_pkeys &&
         options_.had_further_pkeys(port_guid(node, port));
}

asio::awaitable<void> DiscoverySession::read_pkeys(FoundNode* node, PortNum port, mad::DirectedPath path) {
  auto& found = *node;
  using Kind = TableKind<wire::PKeyTable>;
  HeldBlocks<wire::PKeyTable> held;
  held.row.resize(Kind::blocks(found.node, port).count());
  for (std::size_t block = 0; block < held.row.size(); ++block) {
    const auto modifier = Kind::modifier(found.node, port, block);
    held.asked.set(block);
    const auto table = co_await ask<wire::PKeyTable>(node, port, path, modifier);
    if (!table) {
      report_error(found, port, table.error());
      if (table.error().fault == mad::Fault::refused) held.asked.reset(block);  // it is so next time, too
      break;
    }
    held.row[block] = *table;
    held.known.set(block);
    if (block == 0 && is_as_made(table->keys) && !may_have_further_pkeys(found.node, port)) break;
  }
  found.node.ports[port.value()].held<wire::PKeyTable>() = pkeys_.share(std::move(held));
}

asio::awaitable<void> DiscoverySession::read_fdr10(FoundNode* node, PortNum port, mad::DirectedPath path) {
  auto& found = *node;
  const auto info = co_await ask<wire::MlnxExtPortInfo>(node, port, path, port.value());
  // Not every device of the vendor has it; then the link is what PortInfo says.
  if (info) found.node.ports[port.value()].mlnx = *info;
}

/// As our own port has it, which a look at a part of the fabric need not have met.
Lid DiscoverySession::own_master() const {
  if (!self) return {};
  const auto* met = findings.find(self->node);
  const auto* own = met != nullptr ? &met->node : before_ != nullptr ? before_->find(self->node) : nullptr;
  return own != nullptr ? own->ports[self->port.value()].info.sm_lid : Lid{};
}

asio::awaitable<void> DiscoverySession::read_sm_info(FoundNode* node, PortNum port, mad::DirectedPath path) {
  auto& found = *node;
  const auto guid = port_guid(found.node, port);
  auto info = mad::Asked<wire::SmInfo>(std::unexpected(mad::RequestError{.fault = mad::Fault::timeout}));
  if (options_.lost_sms.contains(guid)) {
    const auto target = target_of(found.node, port, path);
    info = co_await mad::get_once<wire::SmInfo>(tx_, target, options_.lost_sm_wait);
  } else {
    info = co_await ask<wire::SmInfo>(node, port, path, 0);
  }
  const PeerPort place{found.node.guid(), port};
  const auto lid = found.node.ports[port.value()].info.lid;
  if (info) {
    other_sms.push_back({place, {}, lid, *info});
    co_return;
  }
  // The node answers all else: an SM that hangs is no node that does not answer.
  if (info.error().fault != mad::Fault::timeout) report_error(found, port, info.error());
  OtherSm silent{.at = place, .node_description = {}, .lid = lid, .info = {}, .answered = false};
  if (before_ != nullptr) {
    const auto was = std::ranges::find(before_->other_sms, place, &OtherSm::at);
    if (was != before_->other_sms.end()) silent.info = was->info;
  }
  silent.info.guid = guid;
  // Our own port names it as its master: it may be alive and busy.
  const bool named = lid.unicast() && own_master() == lid;
  silent.info.state = named ? wire::SmState::master : wire::SmState::not_active;
  other_sms.push_back(std::move(silent));
}

}  // namespace smd::sm::inline sweeping
