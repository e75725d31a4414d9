// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/policy.h"

#include <algorithm>

#include "smd/decide/path_layers.h"

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

/// The P_Key that was asked for, if the level has it; else the lowest of the level's that the two share.
std::optional<PKey> pkey_of_level(const Policy& policy, const EndPort& source, const EndPort& destination,
                                  const PathConstraints& constraints, const sm::QosTerms& level) {
  if (level.pkeys.empty()) return policy.pkey(source, destination, constraints);
  if (constraints.pkey) {
    if (!config::holds(level.pkeys, constraints.pkey->partition())) return std::nullopt;
    return policy.pkey(source, destination, constraints);
  }
  std::optional<PKey> lowest;
  any_key(source.pkeys, [&](PKey ours) {
    const bool lower = !lowest || ours.partition() < lowest->partition() ||
                       (ours.same_partition(*lowest) && ours.full_member());
    if (lower && config::holds(level.pkeys, ours.partition()) && full_members(ours, destination.pkeys))
      lowest = ours;
    return false;
  });
  return lowest;
}

Sl partition_sl(const sm::Decided& decided, PKey pkey) {
  const auto& part = decided.partitions;
  const auto* partition = part && part->policy ? part->policy->find(pkey) : nullptr;
  return partition != nullptr ? partition->sl : Sl{0};
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

/// The P_Key by which a class is looked for: the one that is asked for, else, where there are classes, that
/// of the partition which the path will have. Without classes the policy is OpenSM's, which has no such rule.
std::optional<PKey> Policy::class_pkey(const sm::QosPolicyPart& qos, const EndPort& source,
                                       const EndPort& destination, const PathConstraints& constraints) const {
  if (constraints.pkey || qos.policy->classes.empty()) return constraints.pkey;
  return pkey(source, destination, constraints);
}

std::optional<Sl> Policy::traffic_class(const sm::Decided& decided, sm::QosPortClass source,
                                        sm::QosPortClass destination, PKey partition) {
  const auto& qos = decided.qos_policy;
  if (!qos) return Sl{0};
  const auto* level = qos->matcher.match(
      source, destination, {.qos_class = {}, .service_id = {}, .pkey = partition, .names_pkey = true});
  if (level == nullptr) return partition_sl(decided, partition);
  if (!level->pkeys.empty() && !config::holds(level->pkeys, partition.partition())) return std::nullopt;
  return level->sl;
}

std::optional<PathParameters> Policy::terms(const sm::Decided& decided, const EndPort& source,
                                            const EndPort& destination,
                                            const PathConstraints& constraints) const {
  const auto& qos = decided.qos_policy;
  const auto* level = qos ? qos->matcher.match(source.qos, destination.qos,
                                               {.qos_class = constraints.qos_class,
                                                .service_id = constraints.service_id,
                                                .pkey = class_pkey(*qos, source, destination, constraints),
                                                .names_pkey = constraints.pkey.has_value()})
                          : nullptr;
  const auto key = level != nullptr ? pkey_of_level(*this, source, destination, constraints, *level)
                                    : pkey(source, destination, constraints);
  if (!key) return std::nullopt;
  PathParameters terms{.pkey = *key, .sl = {}, .packet_life = {}};
  const bool by_layer = decided.service_levels != nullptr;
  terms.any_class = !qos && by_layer;
  if (!qos) return terms;
  if (level != nullptr) {
    if (!by_layer && constraints.sl && *constraints.sl != level->sl) return std::nullopt;
    terms.sl = level->sl;
    terms.mtu_limit = level->mtu_limit;
    terms.rate_limit = level->rate_limit;
    terms.packet_life = level->packet_life;
  } else {
    terms.sl = partition_sl(decided, *key);
    // Where there are classes, what no rule matches has one too: the default one, or that of its partition.
    const bool any = qos->policy->classes.empty();
    if (!by_layer && !any && constraints.sl.value_or(terms.sl) != terms.sl) return std::nullopt;
    if (!by_layer) terms.sl = constraints.sl.value_or(terms.sl);
    terms.any_class = by_layer && any;
  }
  return terms;
}

Sl Policy::sl(const sm::Decided& decided, Sl of_class, const EndPort* source, Lid dlid) const {
  if (source == nullptr) return sm::wire_sl(decided.service_levels.get(), of_class, 0);
  return sm::path_sl(decided, of_class, *source->node, source->port, dlid);
}

std::optional<Sl> Policy::granted_sl(const sm::Decided& decided, const PathParameters& terms,
                                     std::optional<Sl> asked, const EndPort& source, Lid dlid) const {
  const auto own = sl(decided, terms.sl, &source, dlid);
  if (!asked || *asked == own) return own;
  if (!terms.any_class) return std::nullopt;
  const auto* sls = decided.service_levels.get();
  if (sls == nullptr || !sm::has_layers(*sls)) return asked;  // one layer carries every SL
  const auto layer = decided.routes ? sm::layer_of(*decided.routes, *source.node, source.port, dlid) : 0U;
  return sm::class_of(sls, *asked, layer) ? asked : std::nullopt;
}

std::size_t pkey_work(const HeldPKeys* a, const HeldPKeys* b) {
  const auto blocks = [](const HeldPKeys* held) { return held != nullptr ? held->row.size() : 0; };
  return 1 + 2 * blocks(a) * blocks(b);
}

}  // namespace smd::sa
