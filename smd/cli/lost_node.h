// SPDX-License-Identifier: Apache-2.0
#pragma once
// Nodes that were in the fabric and are not there now: what is known of them.

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <expected>
#include <iosfwd>
#include <optional>
#include <string>

#include "smd/cli/conversation.h"

namespace smd::cli {

/// As the API has it: a row of `lost_nodes`, rows of `lost_links`, a row of `ports_disabled`, an event.
struct LostNode {
  boost::json::value node;
  bool accepted = false;         ///< it is not counted as lost any more (`smd accept`)
  boost::json::array links;      ///< those of it that are lost, from the other end where that is a switch's
  boost::json::array disabled;   ///< ports at either end of those links that an operator has disabled
  boost::json::value gone;       ///< the latest event node.gone of it; null: there is none
  std::string guid, name, type;  ///< of `node`, for people
};

/// Of an answer of the API's `why`; nothing: the node is there.
std::optional<LostNode> lost_node_of(const boost::json::value& why);
/// By GUID, name, LID or port GUID. Nothing: no such node is known, or it is there. It is of `subnet`.
std::expected<std::optional<LostNode>, std::string> find_lost_node(const Conversation& daemon,
                                                                   const std::string& subnet,
                                                                   const std::string& words);

/// That it is lost, since when, and where its cables led to; a line each. `port`: only its link; empty: all.
void print_lost_node(std::ostream& out, const LostNode& lost, const std::string& port);
/// What may be done for it, a line each.
void print_lost_advice(std::ostream& out, const LostNode& lost);
/// For scripts: {"node": {...}, "links": [...], "ports_disabled": [...]}.
boost::json::object lost_node_json(const LostNode& lost);
/// The number of the node's own port of one of its links.
std::string own_port(const LostNode& lost, const boost::json::value& link);

/// What `GET target` answers; where the node of `words` is not there, but is known as lost: that is printed
/// instead (as JSON: {"subnet": ..., "lost": ...}), and nothing is returned.
std::expected<std::optional<boost::json::value>, std::string> get_of_node(const Conversation& daemon,
                                                                          const std::string& subnet,
                                                                          const std::string& target,
                                                                          const std::string& words,
                                                                          bool as_json, std::ostream& out);

}  // namespace smd::cli
