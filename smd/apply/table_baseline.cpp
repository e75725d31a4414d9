// SPDX-License-Identifier: Apache-2.0
#include "smd/apply/table_baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <ranges>
#include <set>
#include <tuple>
#include <type_traits>
#include <utility>

#include "mad/wire/tables.h"
#include "smd/decide/port_vl_tables.h"
#include "smd/decide/stored.h"
#include "smd/sweep/end_ports.h"

namespace smd::sm::inline applying {
namespace {

/// Entries that are named of one table; the rest are counted.
constexpr std::size_t kNamed = 4;
/// Nodes that are noted and not there: hosts that are switched off, and not every GUID that ever was shown.
constexpr std::size_t kGone = 65'536;

/// Collects "index 1 0x8001, now 0x0000".
class Differences {
 public:
  template <class T>
  void add(const std::string& entry, const T& was, const T& is) {
    if (++count_ > kNamed) return;
    text_ += fmt::format("{}{} {}, now {}", text_.empty() ? "" : "; ", entry, was, is);
  }
  std::string text() const {
    return count_ > kNamed ? fmt::format("{}; and {} more", text_, count_ - kNamed) : text_;
  }
  bool any() const { return count_ != 0; }

 private:
  std::string text_;
  std::size_t count_ = 0;
};

void compare_block(Differences& found, const wire::PKeyTable& was, const wire::PKeyTable& is,
                   std::size_t block, bool) {
  for (std::size_t i = 0; i < was.keys.size(); ++i) {
    if (was.keys[i] == is.keys[i]) continue;
    found.add(fmt::format("index {}", block * was.keys.size() + i), fmt::format("{}", was.keys[i]),
              fmt::format("{}", is.keys[i]));
  }
}

void compare_block(Differences& found, const wire::SlToVl& was, const wire::SlToVl& is, std::size_t block,
                   bool of_switch) {
  for (std::size_t sl = 0; sl < was.vls.size(); ++sl) {
    if (was.vls[sl] == is.vls[sl]) continue;
    const auto in = of_switch ? fmt::format("from port {} ", block) : std::string{};
    found.add(fmt::format("{}SL {}", in, sl), fmt::format("VL {}", was.vls[sl]),
              fmt::format("VL {}", is.vls[sl]));
  }
}

void compare_block(Differences& found, const wire::VlArbitration& was, const wire::VlArbitration& is,
                   std::size_t block, bool) {
  static constexpr std::array<std::string_view, 4> kParts{"low 0 to 31", "low 32 to 63", "high 0 to 31",
                                                          "high 32 to 63"};
  const auto &before = was.entries, &now = is.entries;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] == now[i]) continue;
    found.add(fmt::format("{} entry {}", kParts[block], i),
              fmt::format("{}:{}", before[i].vl, before[i].weight),
              fmt::format("{}:{}", now[i].vl, now[i].weight));
  }
}

/// Any other kind, by its rows of the byte layout.
template <wire::Layout A>
void compare_block(Differences& found, const A& was, const A& is, std::size_t block, bool) {
  wire::for_each_field<A>([&](const auto& row) {
    for (std::size_t i = 0; i < row.place.count; ++i) {
      const auto before = row.get(was, i), now = row.get(is, i);
      if (before == now) continue;
      found.add(fmt::format("block {} {} {}", block, row.name, i), wire::to_number(before),
                wire::to_number(now));
    }
  });
}

/// Blocks that are known in both.
template <class A>
Differences compare(const HeldBlocks<A>& was, const HeldBlocks<A>& is, bool of_switch) {
  Differences found;
  was.known.for_each([&](std::size_t block) {
    if (is.known.test(block)) compare_block(found, was.row[block], is.row[block], block, of_switch);
  });
  return found;
}

/// What is known now of either; where both know something, what was noted stays.
template <class A>
HeldBlocks<A> joined(const HeldBlocks<A>& noted, const HeldBlocks<A>& now) {
  auto all = noted;
  if (all.row.size() < now.row.size()) all.row.resize(now.row.size());
  now.known.for_each([&](std::size_t block) {
    if (all.known.test(block)) return;
    all.row[block] = now.row[block];
    all.known.set(block);
  });
  return all;
}

/// The tables that smd decides in whole have no baseline.
template <class A>
constexpr bool kHasBaseline = TableKind<A>::kRead != TableRead::never;

/// A restart has brought the device's own VL tables in place of others as devices are made with: which of
/// these it has means nothing.
template <class A>
bool as_made_again(const HeldBlocks<A>& was, const HeldBlocks<A>& is) {
  if constexpr (std::is_same_v<A, wire::SlToVl> || std::is_same_v<A, wire::VlArbitration>) {
    return is_device_made(was) && is_device_made(is);
  } else {
    return false;
  }
}

/// It begins anew: an end port in Init, or a switch that has no LID or forwards by nothing yet.
bool begins_anew(const Node& node, const Port& port) {
  if (node.is_switch()) return !node.forwards() || !node.ports[0].info.lid.unicast();
  return port.info.port_state == PortState::init;
}

/// Nothing is known of the table that carries this attribute.
bool is_unknown(const Port& port, std::uint16_t attribute) {
  bool unknown = true;
  for_each_table([&]<class A>() {
    const auto& held = port.held<A>();
    if (A::kAttribute == attribute) unknown = !held || held->known.empty();
  });
  return unknown;
}

}  // namespace

template <class A>
bool TableBaseline::notes() const {
  return kHasBaseline<A> && !ours_.has(A::kAttribute);
}

bool TableBaseline::Ours::has(std::uint16_t attribute) const {
  if (attribute == wire::PKeyTable::kAttribute) return pkeys;
  return vl_tables && (attribute == wire::SlToVl::kAttribute || attribute == wire::VlArbitration::kAttribute);
}

void TableBaseline::decide(const Ours& ours) {
  if (ours == ours_) return;
  anew_ = true;
  ours_ = ours;
  for (auto& [node, ports] : nodes_) {
    for (auto& tables : ports) {
      for_each_table([&]<class A>() {
        if (ours_.has(A::kAttribute)) std::get<HeldPtr<A>>(tables.held) = nullptr;
      });
    }
  }
}

void TableBaseline::look_at(const Node& node, std::span<const AlteredTable> before,
                            std::vector<AlteredTable>& altered) {
  auto& noted = nodes_[node.guid()];
  noted.resize(std::max(noted.size(), node.ports.size()));
  for (std::size_t p = 0; p < node.ports.size(); ++p) {
    const auto& port = node.ports[p];
    auto& tables = noted[p];
    bool known = false;
    for_each_table([&]<class A>() { known = known || std::get<HeldPtr<A>>(tables.held); });
    tables.restarted = known && (tables.restarted || begins_anew(node, port));
    const auto first = altered.size();
    const PeerPort at{node.guid(), PortNum{static_cast<std::uint8_t>(p)}};
    // A table that is not known at the moment is as it was found last.
    for (const auto& one : before) {
      const bool ours = ours_.has(one.attribute);
      if (one.at.port == at.port && !ours && is_unknown(port, one.attribute) && port.linked())
        altered.push_back(one);
    }
    bool read = true;
    for_each_table([&]<class A>() {
      if (!notes<A>()) return;
      auto& was = std::get<HeldPtr<A>>(tables.held);
      const auto& is = port.held<A>();
      if (was && (!is || is->known.empty())) read = false;
      if (tables.restarted && was && is && as_made_again(*was, *is)) was = is;
      if (was && is && was != is) {
        const auto found = compare(*was, *is, node.is_switch());
        if (found.any()) altered.push_back({at, A::kAttribute, found.text(), tables.restarted});
        // Tables that are read block by block become known in the end.
        if (!was->known.contains(is->known)) was = std::make_shared<const HeldBlocks<A>>(joined(*was, *is));
      }
      if (!was) was = is;
    });
    // A port of a switch may get its link, and its tables be read, long after the switch is back.
    if (altered.size() == first && read && !begins_anew(node, port)) tables.restarted = false;
  }
}

void TableBaseline::look(Subnet& now, const Subnet* before) {
  std::vector<AlteredTable> altered;
  auto old = before != nullptr ? before->nodes.begin() : std::vector<NodePtr>::const_iterator{};
  const auto end = before != nullptr ? before->nodes.end() : old;
  for (const auto& node : now.nodes) {
    while (old != end && (*old)->guid() < node->guid()) ++old;
    std::span<const AlteredTable> known;
    if (before != nullptr) {
      known = std::ranges::equal_range(before->altered, node->guid(), {},
                                       [](const AlteredTable& one) { return one.at.node; });
    }
    if (old == end || *old != node || anew_) {
      look_at(*node, known, altered);
    } else {
      altered.insert(altered.end(), known.begin(), known.end());
    }
  }
  now.altered = std::move(altered);
  anew_ = false;
  if (nodes_.size() > now.nodes.size() + kGone) forget_gone(now);
}

void TableBaseline::forget_gone(const Subnet& now) {
  std::erase_if(nodes_, [&](const auto& entry) { return now.find(entry.first) == nullptr; });
}

void TableBaseline::wrote(const Subnet& before, const Subnet& after, const Applied& applied) {
  // Keys that a block held between two Sets are not what is left of them.
  std::set<std::tuple<NodeIndex, PortNum, std::size_t>> blocks;
  for (const auto& answer : applied.answers<wire::PKeyTable>() | std::views::reverse) {
    if (!answer.held || !blocks.emplace(answer.node, answer.port, answer.block).second) continue;
    const auto& node = *after.nodes[answer.node];
    const auto noted = nodes_.find(node.guid());
    if (noted == nodes_.end() || noted->second.size() <= answer.port.value()) continue;
    auto& was = std::get<HeldPtr<wire::PKeyTable>>(noted->second[answer.port.value()].held);
    if (!was || was->row.size() <= answer.block) continue;
    auto table = *was;
    const auto* node_before = before.find(node.guid());
    const bool anew = node_before != nullptr && answer.port.value() < node_before->ports.size() &&
                      (begins_anew(*node_before, node_before->ports[answer.port.value()]) ||
                       node_before->ports[answer.port.value()].info.port_state == PortState::init);
    if (anew) table.row[answer.block] = *answer.held;
    // What else the block holds is not smd's, and stays as noted.
    for (std::size_t i = 0; i < answer.held->keys.size(); ++i) {
      if (answer.held->keys[i] == kDefaultPKey) table.row[answer.block].keys[i] = kDefaultPKey;
    }
    was = std::make_shared<const HeldBlocks<wire::PKeyTable>>(std::move(table));
  }
}

std::string_view reason_of(const AlteredTable& table) {
  return table.restarted ? "lost by a restart" : "changed externally";
}

namespace {

bool is_foreign(PKey key, const config::PartitionPolicy* policy) {
  const bool managed = policy != nullptr && policy->configured;
  return key != PKey{} && (managed ? policy->find(key) == nullptr : key != kDefaultPKey);
}

}  // namespace

std::vector<PKey> foreign_keys(const HeldBlocks<wire::PKeyTable>& held,
                               const config::PartitionPolicy* policy) {
  std::vector<PKey> found;
  for (const auto& block : held.row) {
    std::ranges::copy_if(block.keys, std::back_inserter(found),
                         [&](PKey key) { return is_foreign(key, policy); });
  }
  return found;
}

void add_foreign_keys(const Stored& stored, const config::PartitionPolicy* policy, std::vector<PKey>& keys) {
  std::set<PKey> all(keys.begin(), keys.end());
  for (const auto& [guid, port] : stored.port_keys) {
    std::ranges::copy_if(port.keys, std::inserter(all, all.end()),
                         [&](PKey key) { return is_foreign(key, policy); });
  }
  keys.assign(all.begin(), all.end());
}

ForeignKeys foreign_keys(const Subnet& subnet, const config::PartitionPolicy* policy, const Stored* stored) {
  ForeignKeys found;
  std::set<PKey> keys;
  const HeldBlocks<wire::PKeyTable>* usual = nullptr;  // nearly all ports share one
  for (const auto& node : subnet.nodes) {
    for (std::size_t p = 0; p < node->ports.size(); ++p) {
      const auto& held = node->ports[p].held<wire::PKeyTable>();
      if (!held || held.get() == usual || !is_end_port(*node, PortNum{static_cast<std::uint8_t>(p)}))
        continue;
      auto foreign = foreign_keys(*held, policy);
      if (foreign.empty()) {
        usual = held.get();
        continue;
      }
      const auto guid = port_guid(*node, PortNum{static_cast<std::uint8_t>(p)});
      if (stored != nullptr)
        std::erase_if(foreign, [&](PKey key) { return stored->pkeys.contains({guid, key}); });
      if (foreign.empty()) continue;
      ++found.ports;
      keys.insert(foreign.begin(), foreign.end());
    }
  }
  found.keys.assign(keys.begin(), keys.end());
  return found;
}

}  // namespace smd::sm::inline applying
