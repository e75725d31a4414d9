// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/policy.h"

#include <algorithm>
#include <array>
#include <span>

namespace smd::sa {
namespace {

/// Calls fn(P_Key) for the port's known keys until fn says true; a port whose table was never read is taken
/// for one that its reset left: a full member of the default partition.
template <class Fn>
bool any_key(const HeldPKeys* held, Fn&& fn) {
  if (held == nullptr) return fn(kDefaultPKey);
  for (const auto& block : held->row) {
    for (const auto key : block.keys) {
      if (key.partition() != 0 && fn(key)) return true;
    }
  }
  return false;
}

bool has_none(const HeldPKeys* held) {
  return !any_key(held, [](PKey) { return true; });
}

/// Both ends are full members, of the default partition.
constexpr int kBest = 5;

/// How many of the two ends may be full members by `ours`; nothing where they share no such partition.
std::optional<int> full_members(PKey ours, const HeldPKeys* theirs) {
  std::optional<int> found;
  any_key(theirs, [&](PKey key) {
    if (!ours.matches(key)) return false;
    const int full = (ours.full_member() ? 1 : 0) + (key.full_member() ? 1 : 0);
    found = std::max(found.value_or(0), full);
    return full == 2;
  });
  return found;
}

}  // namespace

bool share_pkey(const HeldPKeys* a, const HeldPKeys* b) {
  const bool common =
      any_key(a, [&](PKey ours) { return any_key(b, [&](PKey theirs) { return ours.matches(theirs); }); });
  return common || a == nullptr || b == nullptr || has_none(a) || has_none(b);
}

std::optional<PKey> Policy::pkey(const EndPort& source, const EndPort& destination,
                                 const PathConstraints& constraints) const {
  std::optional<PKey> common;
  int best = -1;
  any_key(source.pkeys, [&](PKey ours) {
    if (constraints.pkey && !ours.same_partition(*constraints.pkey)) return false;
    const auto full = full_members(ours, destination.pkeys);
    if (!full) return false;
    const int rank = 2 * *full + (ours.same_partition(kDefaultPKey) ? 1 : 0);
    if (rank > best) common = constraints.pkey.value_or(ours);  // a record has what was asked for
    best = std::max(best, rank);
    return best == kBest;
  });
  return common;
}

std::uint16_t Policy::pkey_index(const EndPort& source, const EndPort& destination) const {
  std::uint16_t index = 0;
  if (source.pkeys == nullptr) return index;
  for (const auto& block : source.pkeys->row) {
    for (const auto key : block.keys) {
      const auto shared = [&](PKey theirs) { return key.matches(theirs); };
      if (key.partition() != 0 && any_key(destination.pkeys, shared)) return index;
      ++index;
    }
  }
  return 0;
}

Sl Policy::sl(const Directory& directory, Lid dlid) const {
  // One class of service: a layer of the routes is an SL of the same number.
  const auto& routes = directory.snapshot().decided.routes;
  const auto layer = routes ? routes->layers.to(dlid) : 0U;
  return Sl{static_cast<std::uint8_t>(layer)};
}

std::size_t pkey_work(const HeldPKeys* a, const HeldPKeys* b) {
  const auto blocks = [](const HeldPKeys* held) { return held != nullptr ? held->row.size() : 0; };
  return 1 + 2 * blocks(a) * blocks(b);
}

}  // namespace smd::sa
