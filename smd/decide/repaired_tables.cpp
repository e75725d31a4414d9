// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/repaired_tables.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "mad/base/random.h"

namespace smd::sm::inline decisions {
namespace {

StoredPtr with_digest(const StoredPtr& before, std::uint64_t digest) {
  if (digest == before->repaired_tables) return before;
  auto after = std::make_shared<Stored>(*before);
  after->repaired_tables = digest;
  return after;
}

/// One round of FNV-1a by words, and of the finalizer of MurmurHash3, which spreads high bits to low ones.
std::uint64_t mixed(std::uint64_t state, std::uint64_t word) {
  state = (state ^ word) * 1099511628211U;
  return state ^ (state >> 33U);
}

std::uint64_t digest_of_row(Guid node, const routing::LftRow* row) {
  auto state = mixed(14695981039346656037U, node.value());
  auto size = row != nullptr ? row->size() : 0;
  while (size != 0 && (*row)[size - 1] == routing::kNoRoute) --size;
  if (size == 0) return 0;
  std::size_t at = 0;
  for (std::uint64_t word = 0; at + sizeof word <= size; at += sizeof word) {
    std::memcpy(&word, row->data() + at, sizeof word);
    state = mixed(state, word);
  }
  for (; at < size; ++at) state = mixed(state, (*row)[at]);
  return mixed(state, size);
}

// The mark of tables that are being written: bit 0, and two bits for each entry of a sample.
constexpr std::uint64_t kWriting = 1;
constexpr unsigned kSampled = 31, kBitsEach = 2;
constexpr std::uint64_t kCodes = 1U << kBitsEach;
/// Less than that agree by chance.
constexpr unsigned kFewest = 8;

unsigned place_of(unsigned sample) { return 1 + kBitsEach * sample; }

/// Of 0: whatever port the entry has. One of 1 to 3 for each port.
std::uint64_t code_of(unsigned sample, std::uint8_t port) {
  return port == routing::kNoRoute ? 0 : 1 + base::splitmix64((sample << 8U) | port) % (kCodes - 1);
}

/// An entry, named so that it is the same after a restart.
struct SampledEntry {
  routing::SwitchIndex at = routing::kNoSwitch;
  Lid lid;
};

/// Of a switch with hosts, for an end port at another one. Which one follows from GUIDs: a switch more or
/// less changes few of the sample. Nothing where there are no two such switches. O(switches + end ports of
/// one).
SampledEntry sampled_entry(unsigned sample, const routing::Topology& topology, const routing::LidMap& lids) {
  const auto rank = [&](Guid guid) { return base::splitmix64(base::splitmix64(sample) ^ guid.value()); };
  auto at = routing::kNoSwitch, to = routing::kNoSwitch;
  const auto before = [&](routing::SwitchIndex one, routing::SwitchIndex other) {
    return other == routing::kNoSwitch || rank(topology.guid(one)) < rank(topology.guid(other));
  };
  for (const auto leaf : topology.leaves()) {
    if (before(leaf, at)) {
      to = at;
      at = leaf;
    } else if (before(leaf, to)) {
      to = leaf;
    }
  }
  if (to == routing::kNoSwitch) return {};
  const auto ends = topology.end_ports_of(to);
  const auto end = std::ranges::min_element(ends, {}, [&](const auto& port) { return rank(port.guid); });
  const auto index = topology.first_end(to) + static_cast<routing::EndIndex>(end - ends.begin());
  return {at, lids.of_end(index).base};
}

/// What the switch is known to have for the LID, and is to have: one code if both have the same, or if one is
/// no route.
std::uint64_t code_of_both(unsigned sample, const SampledEntry& entry, const Subnet& subnet,
                           const RoutePart& routes) {
  const auto guid = routes.topology->guid(entry.at);
  const auto* node = subnet.find(guid);
  const auto* row = routes.find(guid);
  if (node == nullptr || row == nullptr) return 0;
  const auto& lft = node->lft;
  if (lft.row && !lft.known.test(entry.lid.value() / routing::kLftBlock)) return 0;
  const auto before = code_of(sample, routing::entry(lft.row.get(), entry.lid));
  const auto after = code_of(sample, routing::entry(row->get(), entry.lid));
  if (before == 0 || after == 0) return std::max(before, after);
  return before == after ? before : 0;
}

std::uint64_t mark_of_writing(const Subnet& subnet, const RoutePart& routes) {
  auto mark = kWriting;
  for (unsigned sample = 0; sample < kSampled; ++sample) {
    const auto entry = sampled_entry(sample, *routes.topology, *routes.lid_map);
    if (entry.at != routing::kNoSwitch)
      mark |= code_of_both(sample, entry, subnet, routes) << place_of(sample);
  }
  return mark;
}

bool agrees_with_mark(std::uint64_t mark, const RoutePart& fabric, std::span<const routing::OldRow> held) {
  unsigned agree = 0;
  for (unsigned sample = 0; sample < kSampled; ++sample) {
    const auto code = (mark >> place_of(sample)) % kCodes;
    const auto entry = sampled_entry(sample, *fabric.topology, *fabric.lid_map);
    if (code == 0 || entry.at == routing::kNoSwitch) continue;
    const auto row = std::ranges::find(held, fabric.topology->guid(entry.at), &routing::OldRow::guid);
    const auto port = row != held.end() ? routing::entry(row->row.get(), entry.lid) : routing::kNoRoute;
    if (port == routing::kNoRoute) continue;
    if (code_of(sample, port) != code) return false;
    ++agree;
  }
  return agree >= kFewest;
}

}  // namespace

std::uint64_t digest_of_tables(std::span<const routing::OldRow> rows) {
  std::uint64_t sum = 0;
  for (const auto& row : rows) sum += digest_of_row(row.guid, row.row.get());
  return std::max<std::uint64_t>(sum & ~kWriting, 2);
}

bool marks_writing(std::uint64_t stored) { return (stored & kWriting) != 0; }

bool are_ours(std::uint64_t stored, const RoutePart& fabric, std::span<const routing::OldRow> held) {
  if (stored == 0) return false;
  if (marks_writing(stored)) return agrees_with_mark(stored, fabric, held);
  return digest_of_tables(held) == stored;
}

StoredPtr remember_tables(const StoredPtr& before, const RoutePart* routes) {
  if (routes == nullptr) return before;
  std::uint64_t digest = 0;
  if (routes->origin == RoutePart::Origin::repaired || !routes->left_engine.name.empty()) {
    std::vector<routing::OldRow> rows;
    for (const auto& row : routes->rows) rows.push_back({row.node, row.row});
    digest = digest_of_tables(rows);
  }
  return with_digest(before, digest);
}

StoredPtr remember_writing(const StoredPtr& before, const Subnet& subnet, const RoutePart* routes) {
  if (routes == nullptr || routes->origin == RoutePart::Origin::adopted) return before;
  return with_digest(before, mark_of_writing(subnet, *routes));
}

}  // namespace smd::sm::inline decisions
