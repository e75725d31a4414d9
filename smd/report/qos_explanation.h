// SPDX-License-Identifier: Apache-2.0
#pragma once
// What becomes of each SL in use: its VL and its share of a link at each kind of port, what delays or stops
// it, and what programs have to set. `smd check --qos`, `smd qos` and the API say it from here.

#include <cstdint>
#include <expected>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "smd/decide/decided.h"
#include "smd/report/json.h"
#include "smd/report/qos_uses.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline reports {

/// An SL at a kind of port.
struct QosLaneView {
  Sl sl{};
  std::optional<Vl> vl{};           ///< nothing: packets are dropped
  std::uint32_t low = 0, high = 0;  ///< the sums of its VL's weights in the tables
  double share = 0;                 ///< of the link, 0 to 1, while all SLs in use send
  friend bool operator==(const QosLaneView&, const QosLaneView&) = default;
};

/// Ports whose tables and MTU are alike.
struct QosKindView {
  std::string names{};                       ///< "adapters, switch ports to adapters"
  std::optional<std::uint64_t> ports{};      ///< how many there are; nothing: not asked in a fabric
  std::string first{};                       ///< one of them
  std::uint32_t mtu = 4096;                  ///< bytes of payload in the packets that shares are computed for
  std::uint32_t vls = 0, low = 0, high = 0;  ///< data VLs, entries of the tables
  std::vector<QosLaneView> lanes{};          ///< ascending by SL
  std::vector<std::string> notes{};          ///< what high priority sends before low
  std::vector<std::string> warnings{};
  friend bool operator==(const QosKindView&, const QosKindView&) = default;
};

struct QosExplanation {
  bool enabled = false;
  std::uint32_t layers = 1;  ///< of routes: if there are more, clients have to ask for the SL of each path
  /// Of a configuration: its engines may need several layers.
  bool may_have_layers = false;
  QosUses uses{};  ///< by SL on the wire
  std::vector<QosKindView> kinds{};
  std::vector<std::string> pending{};   ///< items of the policy that mean nothing in this fabric, now
  std::vector<std::string> warnings{};  ///< of the subnet
  friend bool operator==(const QosExplanation&, const QosExplanation&) = default;
};

/// What each SL of `uses` gets on ports with these tables, `names`. `mtu`: bytes of payload in a packet.
QosKindView explain_kind(std::string names, const QosPart::Tables& tables, const QosUses& uses,
                         std::uint32_t mtu);

/// Warns of classes that have lost their priority, and of the others that get another part of what their
/// priority sends than was asked for, by more than a tenth: also by what a class takes that has lost its own.
/// Of classes on the same VLs that is said of their sum: no weight divides a VL between them.
/// The same where high priority gets another part of the link.
void note_shares(QosKindView& kind, const QosUses& uses, const config::QosPolicy& policy);

struct QosSubject {
  const Subnet& subnet;
  const Decided& decided;
  const config::PartitionPolicy* partitions = nullptr;
  std::string refused{};  ///< why the files' policy is not in force
  GroupSls groups{};      ///< of the registry: sa::groups_on_other_sls()
};
/// Of a fabric as it is decided.
QosExplanation explain_qos(const QosSubject& subject);

/// All of it, as the API gives it. Pure.
Json qos_json(const QosExplanation& explanation);
/// What qos_json() made; an error where it is anything else.
std::expected<QosExplanation, std::string> qos_explanation_of(const Json& json);

/// For people.
void print_qos(std::ostream& out, const QosExplanation& explanation);

}  // namespace smd::sm::inline reports
