// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/registry/mlids.h"

#include <algorithm>

namespace smd::sa {
namespace {

constexpr unsigned kFirst = kFirstMulticastLid.value(), kLast = kLastMulticastLid.value();

std::optional<Lid> lowest_free(const Registry& registry, unsigned capacity, std::span<const Lid> taken) {
  unsigned next = kFirst;
  auto used = registry.mlids().begin();
  auto other = taken.begin();
  for (;; ++next) {
    while (used != registry.mlids().end() && used->first.value() < next) ++used;
    while (other != taken.end() && other->value() < next) ++other;
    const bool ours = used != registry.mlids().end() && used->first.value() == next;
    if (!ours && (other == taken.end() || other->value() != next)) break;
  }
  if (next > kLast || next - kFirst >= capacity) return std::nullopt;
  return Lid{static_cast<std::uint16_t>(next)};
}

/// Switches tell groups apart by the MLID alone: what shares one is delivered to the members of all, whose
/// adapters drop what they have not joined.
template <class Suits>
std::optional<Lid> least_shared(const Registry& registry, Suits&& suits) {
  std::optional<Lid> best;
  std::uint32_t fewest = 0;
  for (const auto& [mgid, group] : registry.groups()) {
    if (!suits(mgid, group)) continue;
    const auto sharing = *registry.mlids().find(group.mlid);
    if (best && sharing >= fewest) continue;
    best = group.mlid;
    fewest = sharing;
  }
  return best;
}

bool same_delivery(const GroupParameters& a, const GroupParameters& b) {
  return a.pkey == b.pkey && a.mtu == b.mtu && a.rate == b.rate && a.sl == b.sl;
}

}  // namespace

bool is_solicited_node(const Mgid& mgid) {
  const auto& b = mgid.bytes;
  const bool middle = std::all_of(b.begin() + 6, b.begin() + 11, [](std::uint8_t byte) { return byte == 0; });
  return b[0] == 0xff && (b[1] & 0xf0U) == 0x10 && b[2] == 0x60 && b[3] == 0x1b && middle && b[11] == 1 &&
         b[12] == 0xff;
}

std::optional<Lid> choose_mlid(const Registry& registry, const Settings& settings, unsigned capacity,
                               std::span<const Lid> taken, const Mgid& mgid, const GroupParameters& terms) {
  if (settings.consolidate_ipv6_snm && is_solicited_node(mgid)) {
    const auto shared = least_shared(registry, [&](const Mgid& other, const Group& group) {
      return is_solicited_node(other) && same_delivery(group.terms, terms);
    });
    if (shared) return shared;
  }
  if (const auto free = lowest_free(registry, capacity, taken)) return free;
  if (const auto free = lowest_free(registry, capacity, {})) return free;
  return least_shared(registry, [&](const Mgid&, const Group& group) {
    return !group.well_known && same_delivery(group.terms, terms);
  });
}

Mgid choose_mgid(const Registry& registry, std::uint64_t subnet_prefix, std::uint8_t scope) {
  Mgid mgid;
  mgid.bytes = {0xff, static_cast<std::uint8_t>(0x10U | scope), 0xa0, 0x1b};
  for (unsigned i = 0; i < 8; ++i) {
    mgid.bytes[4 + i] = static_cast<std::uint8_t>(subnet_prefix >> (56 - 8 * i));
  }
  // From where a free one is likely on.
  for (auto number = static_cast<std::uint32_t>(registry.groups().size() + 1);; ++number) {
    for (unsigned i = 0; i < 4; ++i) mgid.bytes[12 + i] = static_cast<std::uint8_t>(number >> (24 - 8 * i));
    if (!registry.groups().contains(mgid)) return mgid;
  }
}

}  // namespace smd::sa
