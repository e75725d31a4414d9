// SPDX-License-Identifier: Apache-2.0
// The tables of what came from another SM.
#include <array>

#include "smd/store/kinds.h"
#include "smd/store/sql_values.h"

namespace smd::store {
namespace {

// replica: id (0) -> epoch, number, source

void position_difference(const ReplicaState& before, const ReplicaState& now, const ChangeSink& sink) {
  if (before.position == now.position && before.source == now.source) return;
  sink({{number(0)}, Cells{number(now.position.epoch), number(now.position.number), guid(now.source)}});
}

bool decode_position(const Cells& row, ReplicaState& into) {
  constexpr std::uint64_t kLast = ~std::uint64_t{0} >> 1U;
  Guid source;
  const bool known = row[3] == guid(Guid{}) || read_guid(row[3], source);
  into.source = source;
  return known && read_number(row[1], kLast, into.position.epoch) &&
         read_number(row[2], kLast, into.position.number);
}

// replica_carried: kind, row_key -> row_value

void carried_difference(const ReplicaState& before, const ReplicaState& now, const ChangeSink& sink) {
  for (const auto& [key, value] : before.carried) {
    if (!now.carried.contains(key)) sink({{key.first, key.second}, std::nullopt});
  }
  for (const auto& [key, value] : now.carried) {
    const auto was = before.carried.find(key);
    if (was == before.carried.end() || was->second != value) sink({{key.first, key.second}, Cells{value}});
  }
}

bool decode_carried(const Cells& row, ReplicaState& into) {
  const auto* kind = std::get_if<std::string>(&row[0]);
  const auto* key = std::get_if<std::string>(&row[1]);
  const auto* value = std::get_if<std::string>(&row[2]);
  return kind != nullptr && key != nullptr && value != nullptr &&
         into.carried.insert({{*kind, *key}, *value}).second;
}

constexpr std::array kPositionKey{Column{"id"}};
constexpr std::array kPositionValue{Column{"epoch"}, Column{"number"}, Column{"source", true}};
constexpr std::array kCarriedKey{Column{"kind", true}, Column{"row_key", true}};
constexpr std::array kCarriedValue{Column{"row_value", true}};

constexpr std::array kReplicaKinds{
    ReplicaKind{{"replica", kPositionKey, kPositionValue}, position_difference, decode_position},
    ReplicaKind{{"replica_carried", kCarriedKey, kCarriedValue}, carried_difference, decode_carried},
};

}  // namespace

std::span<const ReplicaKind> replica_kinds() { return kReplicaKinds; }

}  // namespace smd::store
