// SPDX-License-Identifier: Apache-2.0
#pragma once
// How each part is decided, planned and written. A new part is an enumerator in smd/schedule/part.h, a row in
// part_kind.cpp, and its case in Reconciler::end_part() (what becomes of what failed).

#include <expected>
#include <set>
#include <stop_token>
#include <string_view>
#include <vector>

#include "routing/engines/engine.h"
#include "routing/parallel.h"
#include "smd/apply/applied.h"
#include "smd/decide/decide.h"
#include "smd/decide/guids.h"
#include "smd/plan/plan.h"
#include "smd/plan/port_orders.h"
#include "smd/schedule/part.h"

namespace smd::sm::inline reconciling {

/// What was asked of the parts, beyond what the configuration says.
struct PartRequests {
  GuidRequests guids;
  std::set<Guid> clients;            ///< port GUIDs
  std::set<Guid> reindex;            ///< port GUIDs whose P_Key at index 0 is decided anew
  std::vector<PortItem> links_down;  ///< an end of each link
  PortOrders ports;
};

/// How the loop treats a part. All functions are pure; `plan` makes a plan of this part alone.
struct PartKind {
  using Decide = std::expected<Decision, routing::RouteError> (*)(const DecideInput&, const PartRequests&);
  using Planner = Plan (*)(const PlanInput&, const PartRequests&, const routing::Parallel&,
                           const std::stop_token&);
  using Take = void (*)(PartRequests&, const Subnet&);
  Part part;
  std::string_view name;
  /// Plans of one run at most: what failed is planned again.
  unsigned attempts = 1;
  /// It covers all parts: the decision binds later ones and is stored before it is written, nodes that fail
  /// are left out, and what is left in the end is counted.
  bool whole = false;
  bool binds = false;         ///< the indexes of its P_Keys are stored before they are written
  bool logs_changes = false;  ///< what has changed by the decision is written to the log
  bool uses_groups = false;   ///< DecideInput.multicast is filled
  bool gives_way = true;      ///< Sets that are not answered are given up where an event waits
  /// Whether there is anything to do; null: always.
  bool (*is_asked)(const PartRequests&) = nullptr;
  /// Removes from the requests what the run that begins has taken over, whether it succeeds or not; null:
  /// nothing.
  Take take = nullptr;
  Decide decide = nullptr;
  Planner plan = nullptr;
};
/// How the loop treats this part. Static storage.
const PartKind& part_kind(Part part);

/// What is left of `requests` after `part` was decided for `decided_on` and written: a request is done where
/// the port holds it or has acknowledged it (`answers`), and dropped where `part` has no such port: it is
/// made again when the port is back. A request that was changed or added meanwhile stays. Pure.
GuidRequests remaining(GuidRequests requests, const GuidRequests& decided_on,
                       const TablePart<wire::GuidInfo>& part, const Subnet& subnet,
                       const TableAnswers<wire::GuidInfo>& answers);

}  // namespace smd::sm::inline reconciling
