// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far the state of a subnet is a copy of another SM's, and what of it this program does not know.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "mad/base/id.h"

namespace smd::store {

/// A place in the stream of committed changes of a subnet. Each mastership has an epoch of its own; within it
/// transactions are numbered.
struct Position {
  std::uint64_t epoch = 0;   ///< 0: none
  std::uint64_t number = 0;  ///< of the last transaction
  friend auto operator<=>(const Position&, const Position&) = default;
};

struct ReplicaState {
  Position position{};
  Guid source{};  ///< port GUID of the SM whose epoch it is
  /// Rows of kinds that this program does not know, by kind and key; both as replica/cells_text.h writes
  /// them. They belong to a newer smd and are handed on unchanged.
  std::map<std::pair<std::string, std::string>, std::string> carried{};
  friend bool operator==(const ReplicaState&, const ReplicaState&) = default;
};
using ReplicaStatePtr = std::shared_ptr<const ReplicaState>;  ///< never null

}  // namespace smd::store
