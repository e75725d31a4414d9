// SPDX-License-Identifier: Apache-2.0
#pragma once
// What another decision changes of QoS: for each class of traffic its SLs, VLs and share before and after.

#include <optional>
#include <string>
#include <vector>

#include "smd/report/json.h"
#include "smd/report/qos_explanation.h"

namespace smd::sm::inline reports {

/// What a class has in a fabric, or an SL without a class.
struct QosStanding {
  std::vector<Sl> sls{};                   ///< on the wire, ascending: one for each layer of routes
  std::vector<Vl> vls{};                   ///< at any port, ascending; empty: no tables are decided
  bool dropped = false;                    ///< at some ports
  double share_least = 0, share_most = 0;  ///< of the link, 0 to 1: the kinds of ports differ
  std::vector<std::string> by{};           ///< what has the SL; of an SL without a class only
};

struct QosChange {
  std::string name{};                   ///< of the class; empty: an SL without one
  std::optional<QosStanding> before{};  ///< nothing: it is new
  std::optional<QosStanding> after{};   ///< nothing: it is gone
};

struct QosChanges {
  std::vector<QosChange> classes{};     ///< SLs without a class first, then by name
  std::vector<std::string> pending{};   ///< QosExplanation::pending, after the change
  std::vector<std::string> warnings{};  ///< all of the explanation after the change, with the kind of port
};

/// Classes that have other SLs, VLs or another share, by a tenth of a percent of the link; SLs without a
/// class also where something else has them. Pure.
QosChanges qos_changes(const QosExplanation& before, const QosExplanation& after);

/// Whether paths in use lose their SL, or have one that is dropped at some ports from now on. Connections
/// keep the SL that they began with.
bool moves_paths(const QosChanges& changes);

/// As the API answers: `classes` (class, before, after; null for none), `pending`, `warnings`.
Json qos_changes_json(const QosChanges& changes);

}  // namespace smd::sm::inline reports
