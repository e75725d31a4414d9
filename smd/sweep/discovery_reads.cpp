// SPDX-License-Identifier: Apache-2.0
// What discovery asks each node, and what it makes of the answers.
#include <algorithm>

#include "mad/wire/capability.h"
#include "mad/wire/modifier.h"
#include "mad/wire/tables.h"
#include "smd/sweep/discovery.h"

namespace smd::sm {
namespace {

constexpr std::size_t kPKeysPerBlock = 32;

/// As it may stand in a log line or a file: control characters as '?'.
std::string printable(std::string text) {
  for (auto& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) c = '?';
  }
  return text;
}

/// A table as it is after a reset: the default P_Key at index 0 or nothing. Only an SM writes more, so the
/// blocks behind it are not read: they stay unknown, and whoever wants to write them reads them first.
bool fresh(const std::array<PKey, kPKeysPerBlock>& block) {
  const bool rest_empty = std::all_of(block.begin() + 1, block.end(), [](PKey key) { return key == PKey{}; });
  return rest_empty && (block[0] == PKey{} || (block[0].value() & 0x7FFFU) == 0x7FFFU);
}

unsigned pkey_capacity(const Node& node, PortNum port) {
  if (!node.is_switch() || port.value() == 0) return node.info.partition_cap;
  return node.switch_info ? node.switch_info->partition_enforcement_cap : 0U;
}

/// FDR10 shows as QDR in PortInfo. Only links of Mellanox devices that know extended speeds can be it.
bool may_be_fdr10(const Node& node, const wire::PortInfo& info) {
  constexpr std::uint32_t kMellanox = 0x0002C9;
  return node.info.vendor_id == kMellanox && info.link_speed_active == 4 && info.link_speed_ext_active == 0 &&
         info.link_speed_ext_supported != 0;
}

}  // namespace

void Discovery::trouble(const FoundNode& found, PortNum port, const mad::RequestError& error) {
  if (error.fault == mad::Fault::closed) return;
  unresponsive_.push_back({{found.node.guid(), port}, found.node.guid(), to_string(error)});
}

asio::awaitable<void> Discovery::visit(std::optional<PeerPort> from, mad::DirectedPath path) {
  const auto info = co_await mad::get<wire::NodeInfo>(tx_, {.route = path});
  const auto behind = from.value_or(PeerPort{});
  if (!info) {
    if (!from) own_port_error_ = to_string(info.error());
    if (from && info.error().fault != mad::Fault::closed) {
      unresponsive_.push_back({behind, Guid{}, to_string(info.error())});
    }
    co_return;
  }
  if (!from) self_ = PeerPort{info->node, info->type == NodeType::switch_ ? PortNum{0} : info->local_port};
  std::string nonsense;
  const auto read = findings_.arrived(*info, from, path, nonsense);
  if (!nonsense.empty()) {
    if (!from) own_port_error_ = nonsense, self_.reset();
    if (from) unresponsive_.push_back({behind, info->node, std::move(nonsense)});
    co_return;
  }
  if (!read) co_return;
  to_read_.push_back(*read);
  if (read->whole && (info->type == NodeType::switch_ || !from)) may_probe_.push_back(read->found);
}

asio::awaitable<void> Discovery::read_description(FoundNode* node) {
  auto& found = *node;
  auto description = co_await ask<wire::NodeDescription>(found, found.path, 0);
  if (!description) {
    trouble(found, PortNum{0}, description.error());
    co_return;
  }
  found.node.description = printable(description->text);
}

asio::awaitable<void> Discovery::read_switch(FoundNode* node) {
  auto& found = *node;
  const auto info = co_await ask<wire::SwitchInfo>(found, found.path, 0);
  if (!info) trouble(found, PortNum{0}, info.error());
  if (info) found.node.switch_info = *info;
  co_await read_port(&found, PortNum{0}, found.path);
  for (std::size_t p = 1; p < found.node.ports.size(); ++p) {
    start(read_port(&found, PortNum{static_cast<std::uint8_t>(p)}, found.path));
  }
  if (info) co_await read_lft(&found);
}

asio::awaitable<void> Discovery::read_lft(FoundNode* node) {
  auto& found = *node;
  const auto* before = before_ != nullptr ? before_->find(found.node.guid()) : nullptr;
  if (before != nullptr && tables_stand(found, *before)) {
    found.node.lft = before->lft;
    co_return;
  }
  const auto& info = *found.node.switch_info;
  // Nothing is forwarded yet: every block will be written.
  if (info.linear_fdb_top == 0) co_return;
  const unsigned last =
      std::min({unsigned{info.linear_fdb_top}, info.linear_fdb_cap == 0 ? 0U : info.linear_fdb_cap - 1U,
                unsigned{kLastUnicastLid.value()}});
  auto row = std::make_shared<routing::LftRow>((last / routing::kLftBlock + 1) * routing::kLftBlock,
                                               routing::kNoRoute);
  found.node.lft.row = row;
  for (std::size_t block = 0; block <= last / routing::kLftBlock; ++block) {
    start(read_lft_block(&found, row, block));
  }
}

asio::awaitable<void> Discovery::read_lft_block(FoundNode* node, std::shared_ptr<routing::LftRow> row,
                                                std::size_t block) {
  auto& found = *node;
  const auto table = co_await ask<wire::LinearForwardingTable>(
      found, found.path, wire::lft_modifier(static_cast<std::uint32_t>(block)));
  if (!table) {
    trouble(found, PortNum{0}, table.error());
    co_return;
  }
  std::ranges::transform(table->ports, row->begin() + static_cast<std::ptrdiff_t>(block * routing::kLftBlock),
                         [](PortNum port) { return port.value(); });
  found.node.lft.known.set(block);
}

asio::awaitable<void> Discovery::read_port(FoundNode* node, PortNum port, mad::DirectedPath path) {
  auto& found = *node;
  const mad::Target target{.route = path, .node = found.node.guid()};
  const auto asked = co_await mad::get_port_info(&tx_, target, port, found.node.refuses_extended_speeds);
  const auto& info = asked.info;
  found.node.refuses_extended_speeds |= asked.refuses;
  auto& slot = found.node.ports[port.value()];
  if (!info) {
    trouble(found, port, info.error());
    co_return;
  }
  slot.info = *info;
  slot.known = true;
  if (found.node.is_switch()) slot.guid = found.node.guid();
  const bool end_port = port.value() == 0 || !found.node.is_switch();
  if (port.value() != 0 && !slot.linked()) co_return;
  if (may_be_fdr10(found.node, *info)) start(read_fdr10(&found, port, path));
  const bool ourselves = self_->node == found.node.guid() && self_->port == port;
  if (end_port && !ourselves && (info->capability_mask & wire::kCapIsSm) != 0) {
    start(read_sm_info(&found, port, path));
  }
  co_await read_pkeys(&found, port, path);
}

asio::awaitable<void> Discovery::read_pkeys(FoundNode* node, PortNum port, mad::DirectedPath path) {
  auto& found = *node;
  const std::size_t blocks = (pkey_capacity(found.node, port) + kPKeysPerBlock - 1) / kPKeysPerBlock;
  PKeyRows rows;
  rows.blocks.resize(blocks);
  for (std::size_t block = 0; block < blocks; ++block) {
    const auto modifier =
        wire::p_key_modifier(static_cast<std::uint32_t>(block), found.node.is_switch() ? port : PortNum{0});
    const auto table = co_await ask<wire::PKeyTable>(found, path, modifier);
    if (!table) {
      trouble(found, port, table.error());
      break;
    }
    rows.blocks[block] = table->keys;
    rows.known.set(block);
    if (block == 0 && fresh(table->keys)) break;
  }
  found.node.ports[port.value()].pkeys = pkeys_.share(std::move(rows));
}

asio::awaitable<void> Discovery::read_fdr10(FoundNode* node, PortNum port, mad::DirectedPath path) {
  auto& found = *node;
  const auto info = co_await ask<wire::MlnxExtPortInfo>(found, path, port.value());
  // Not every device of the vendor has it; then the link is what PortInfo says.
  if (info) found.node.ports[port.value()].mlnx = *info;
}

asio::awaitable<void> Discovery::read_sm_info(FoundNode* node, PortNum port, mad::DirectedPath path) {
  auto& found = *node;
  const auto info = co_await ask<wire::SmInfo>(found, path, 0);
  const PeerPort place{found.node.guid(), port};
  const auto lid = found.node.ports[port.value()].info.lid;
  if (info) {
    other_sms_.push_back({place, {}, lid, *info});
    co_return;
  }
  trouble(found, port, info.error());
  // Silent, but our own port names it as its master: it may be alive and busy.
  const auto* own = findings_.find(self_->node);
  const auto master_lid = own->node.ports[self_->port.value()].info.sm_lid;
  if (lid == Lid{} || master_lid != lid) co_return;
  wire::SmInfo maybe;
  maybe.guid = found.node.is_switch() ? found.node.guid() : found.node.ports[port.value()].guid;
  maybe.state = wire::SmState::master;
  other_sms_.push_back({place, {}, lid, maybe});
}

}  // namespace smd::sm
