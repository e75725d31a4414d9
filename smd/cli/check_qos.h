// SPDX-License-Identifier: Apache-2.0
#pragma once
// What `smd check --qos` says: what becomes of each SL in use, before anything is written.

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

#include "config/config.h"
#include "smd/report/qos_explanation.h"

namespace CLI {
class App;
}

namespace smd::cli {

/// The ports and packets that the answer is for.
struct QosCheck {
  bool asked = false;
  unsigned vls = 8;      ///< data VLs that ports can: 1, 2, 4, 8 or 15
  unsigned entries = 8;  ///< of each VL arbitration table, 1 to 64
  unsigned mtu = 4096;   ///< bytes of payload in each packet
  std::string svg{};     ///< a file for a picture; empty: none
  std::string subnet{};  ///< only this one of several; empty: all
};

/// --qos, --vls, --vlarb-entries, --mtu, --subnet, --svg.
void add_qos_options(CLI::App& command, QosCheck& check);
/// What QoS makes of ports that are as `check` says, with the VLs and the MTU that [links] leaves them, by
/// the configuration alone: no fabric is asked. Only
/// `enabled` and `may_have_layers` are set where QoS is off. Pure.
sm::QosExplanation explain_config(const config::SubnetConfig& subnet, const QosCheck& check);
/// For each subnet with QoS: each SL that the SM, a partition or the policy uses, its VL at each kind of
/// port, the part of the link that it gets while all of them send, what high priority sends before low, SLs
/// that share a VL or never have a turn, and what programs have to set. One line where QoS is off.
void print_qos(std::ostream& out, const config::Config& config, const QosCheck& check);
/// The same for scripts: for each subnet a line with what GET /v1/subnets/{subnet}/qos gives of a fabric.
void print_qos_json(std::ostream& out, const config::Config& config, const QosCheck& check);
/// Why `check` cannot be done, in one line: no subnet has the name, or one picture is asked for and several
/// subnets have QoS. Nothing: it can.
std::optional<std::string> qos_hindrance(const config::Config& config, const QosCheck& check);
/// One line for each subnet with QoS of which print_qos() would warn.
void print_qos_warnings(std::ostream& out, const config::Config& config);
/// Writes the picture of the subnet with QoS to `check.svg`, an empty file where there is none; false where
/// it cannot be written. qos_hindrance() has none.
bool write_qos_picture(const config::Config& config, const QosCheck& check);

}  // namespace smd::cli
