// SPDX-License-Identifier: Apache-2.0
#pragma once
// What it means to take a link down: at which end that is done, and what is cut off by it.

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "smd/api/request.h"
#include "smd/policy/disabled_ports.h"
#include "smd/snapshot/snapshot.h"

namespace smd::api {

struct PortOrder {
  policy::PortAt named;   ///< by the caller
  policy::PortAt at;      ///< where it is done: the end that smd reaches when the link is down
  policy::PortAt peer{};  ///< the other end; GUID 0: there is no link
  std::vector<const sm::Node*>
      cut_off{};  ///< that smd reaches by this link only; all of them by its own link
};

/// The port NUMBER of `node`, a GUID, port GUID, LID or name; also of a node that is lost. 404: there is
/// none; 400: no number.
std::expected<policy::PortAt, Answer> port_named(const sm::Snapshot& now, const std::string& node,
                                                 const std::string& number);
/// Of a port that is there. Links of `kept` are no ways, whether or not a sweep has found them down yet. 409:
/// it cannot be reached again when it is down. Pure.
std::expected<PortOrder, Answer> port_order(const sm::Snapshot& now, const policy::DisabledPorts& kept,
                                            const policy::PortAt& named);
/// What the caller repeats to cut these nodes off, and no others; empty where none are.
std::string confirmation(const PortOrder& order);
/// "h00001 and 3 more".
std::string cut_off_words(const PortOrder& order);

}  // namespace smd::api
