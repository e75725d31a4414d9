// SPDX-License-Identifier: Apache-2.0
#pragma once
// The ports of a subnet in the order of their nodes' GUIDs, and which of them a query means.

#include <expected>
#include <optional>

#include "smd/api/router.h"
#include "smd/inventory/inventory.h"
#include "smd/sweep/subnet.h"

namespace smd::api {

/// All ports but those with number 0. The subnet outlives it.
class PortWalk {
 public:
  /// `after`: only those that come after this one.
  PortWalk(const sm::Subnet& subnet, std::optional<sm::LinkEnd> after);

  struct At {
    const sm::Node* node;  ///< not null
    PortNum port;
  };
  /// The next port; nothing: there are no more.
  std::optional<At> next();

 private:
  const sm::Subnet* subnet_;
  std::size_t node_ = 0, port_ = 1;
};

/// What a list of ports or links is asked for; nothing: any.
struct AskedPorts {
  std::optional<PortState> state{};
  std::optional<NodeType> type{};
};
/// `state` ("down", "init", "armed" or "active", in any case) and `type` of the query. 400: another word.
std::expected<AskedPorts, Answer> asked_ports(const Question& question);
/// `type` of the query: "ca", "switch" or "router". 400: another word.
std::expected<std::optional<NodeType>, Answer> asked_type(const Question& question);

}  // namespace smd::api
