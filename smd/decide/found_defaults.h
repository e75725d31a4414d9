// SPDX-License-Identifier: Apache-2.0
#pragma once
// What ports are in the default partition where no file says it: another SM may have closed the fabric.

#include <optional>

#include "config/partition_definition.h"
#include "smd/decide/stored.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline decisions {

class FoundDefaults {
 public:
  /// Both outlive it.
  FoundDefaults(const Subnet& subnet, const Stored& stored) : subnet_(subnet), stored_(stored) {}

  /// As was decided for the port, else as its table says, else as it was noted; of a port of which nothing is
  /// known full, unless another one is limited.
  config::Membership membership(const PeerPort& at);

 private:
  std::optional<bool> is_full(const Node& node, PortNum num) const;
  bool any_limited();

  const Subnet& subnet_;
  const Stored& stored_;
  std::optional<bool> any_limited_{};
};

}  // namespace smd::sm::inline decisions
