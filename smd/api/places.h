// SPDX-License-Identifier: Apache-2.0
#pragma once
// Nodes and ports as callers name them.

#include <expected>
#include <set>
#include <string>

#include "smd/api/request.h"
#include "smd/inventory/inventory.h"
#include "smd/snapshot/snapshot.h"

namespace smd::api {

/// Whether `words` are the name of a node, as sm::raw_name() has it: the same, as it is kept
/// (Node::description), or with control characters as people are shown them.
bool is_written_as(const std::string& name, const std::string& words);

/// By node GUID, port GUID, one of its LIDs, or a name that one node only has. 404: there is none; 409:
/// several have the name. With `only` (a tenant's ports) no node without such a port is there.
std::expected<const sm::Node*, Answer> find_node(const sm::Subnet& subnet, const std::string& words,
                                                 const std::set<sm::LinkEnd>* only = nullptr);

/// A port with LIDs of its own.
struct EndPort {
  const sm::Node* node;  ///< not null
  PortNum port;
  Lid lid;  ///< the one that was named, else the base LID
};
/// As find_node(), also "NODE:PORT". Of a node with several ports: the one that was named, else the first
/// that has a link. With `only` (a tenant's ports) no other port is there.
std::expected<EndPort, Answer> find_end_port(const sm::Subnet& subnet, const std::string& words,
                                             const std::set<sm::LinkEnd>* only = nullptr);

}  // namespace smd::api
