// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which local port to manage a fabric through.

#include <cstdint>
#include <expected>
#include <future>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mad/base/id.h"
#include "mad/base/link.h"
#include "mad/transport.h"

namespace smd::umad {

/// A port of this machine as sysfs shows it.
struct PortEntry {
  std::string device;
  PortNum port{};
  Guid guid{};
  Lid lid{};
  Lid sm_lid{};  ///< MasterSMLID and MasterSMSL
  Sl sm_sl{};
  PortState state = PortState::down;
  PhysState phys_state = PhysState::no_change;
  bool infiniband = true;  ///< link layer; false: RoCE
  bool virtual_function = false;
  /// CapabilityMask has IsSMdisabled: of a planarized adapter's two devices the one that has the GSI only
  /// (is_smi_disabled() of libibumad).
  bool smi_disabled = false;
  friend bool operator==(const PortEntry&, const PortEntry&) = default;

  /// Usable for SMPs: physically LinkUp and at least Init.
  bool link_up() const { return phys_state == PhysState::link_up && state >= PortState::init; }
};

/// All ports, by device name and port number. None where there is no device; never an error.
std::vector<PortEntry> list_ports();
/// The same on a thread of its own, which waits for a device whose firmware or driver hangs as long as it
/// takes.
std::future<std::vector<PortEntry>> begin_list_ports();

/// The first usable port; one by name ("mlx5_0", "mlx5_0:2"); one by GUID.
struct AnyPort {
  friend bool operator==(const AnyPort&, const AnyPort&) = default;
};
struct NamedPort {
  std::string device;
  std::optional<PortNum> port;  ///< none: the device's first usable port
  friend bool operator==(const NamedPort&, const NamedPort&) = default;
};
using PortSelection = std::variant<AnyPort, NamedPort, Guid>;

/// Reads "DEV" or "DEV:N"; nothing where it is neither.
std::optional<NamedPort> parse_port(std::string_view text);
/// As the operator wrote it: "mlx5_0:1", "0x0002c90000000001", "any port".
std::string to_string(const PortSelection& selection);

/// Why there is no port to use now; all of these may pass (boot order, cables), so the caller waits.
enum class PortFault : std::uint8_t { no_device, no_such_port, not_infiniband, virtual_function, link_down };
struct PortProblem {
  PortFault fault = PortFault::no_device;
  std::string text;  ///< one line: which port, what is wrong with it
  friend bool operator==(const PortProblem&, const PortProblem&) = default;
};

/// Usable: link layer InfiniBand, not a virtual function, link up (Init or more, physically LinkUp). Of
/// several problems the one nearest to being usable is told.
std::expected<mad::LocalPort, PortProblem> choose_port(std::span<const PortEntry> ports,
                                                       const PortSelection& selection);
/// All of them, in order, those with IsSMdisabled last; never empty. Whether one has an SMI is seen when it
/// is opened.
std::expected<std::vector<mad::LocalPort>, PortProblem> usable_ports(std::span<const PortEntry> ports,
                                                                     const PortSelection& selection);

/// The ports of other devices that send the GMPs of a port whose device has an SMI only. Planarized XDR
/// adapters show both as devices, with one port GUID: by it umad_get_smi_gsi_pairs() of libibumad (since
/// IBUMAD_1.4) pairs them, too, and takes the one with IsSMdisabled for the GSI. Those come first.
std::vector<mad::LocalPort> gsi_ports_of(const mad::LocalPort& smi, std::span<const PortEntry> ports);

}  // namespace smd::umad
