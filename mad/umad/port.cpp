// SPDX-License-Identifier: Apache-2.0
#include "mad/umad/port.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <ranges>

namespace smd::umad {
namespace {

bool selected(const PortEntry& entry, const PortSelection& selection) {
  if (const auto* guid = std::get_if<Guid>(&selection)) return entry.guid == *guid;
  if (const auto* named = std::get_if<NamedPort>(&selection)) {
    return entry.device == named->device && (!named->port || *named->port == entry.port);
  }
  return true;
}

std::string name_of(const PortEntry& entry) { return fmt::format("{}:{}", entry.device, entry.port); }

/// "mlx5_0:1 (InfiniBand, Down)".
std::string description_of(const PortEntry& entry) {
  if (!entry.infiniband) return fmt::format("{} (Ethernet)", name_of(entry));
  return fmt::format("{} (InfiniBand{}, {})", name_of(entry),
                     entry.virtual_function ? ", virtual function" : "", to_string(entry.state));
}

std::optional<PortProblem> problem_of(const PortEntry& entry) {
  if (!entry.infiniband) {
    return PortProblem{PortFault::not_infiniband,
                       fmt::format("port {} is Ethernet (RoCE), not InfiniBand", name_of(entry))};
  }
  if (entry.virtual_function) {
    return PortProblem{PortFault::virtual_function,
                       fmt::format("port {} is a virtual function, which cannot send SMPs", name_of(entry))};
  }
  if (!entry.link_up()) {
    return PortProblem{PortFault::link_down,
                       fmt::format("port {} has no link (state {}, physical state {})", name_of(entry),
                                   to_string(entry.state), static_cast<unsigned>(entry.phys_state))};
  }
  return std::nullopt;
}

}  // namespace

std::optional<NamedPort> parse_port(std::string_view text) {
  const auto colon = text.find(':');
  const auto device = text.substr(0, colon);
  if (device.empty() || device.find('/') != std::string_view::npos) return std::nullopt;
  if (colon == std::string_view::npos) return NamedPort{std::string(device), std::nullopt};
  const auto digits = text.substr(colon + 1);
  unsigned number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size() || number > 254) return std::nullopt;
  return NamedPort{std::string(device), PortNum{static_cast<std::uint8_t>(number)}};
}

std::string to_string(const PortSelection& selection) {
  if (const auto* guid = std::get_if<Guid>(&selection)) return fmt::to_string(*guid);
  const auto* named = std::get_if<NamedPort>(&selection);
  if (named == nullptr) return "any port";
  return named->port ? fmt::format("{}:{}", named->device, *named->port) : named->device;
}

namespace {

mad::LocalPort local_port(const PortEntry& entry) {
  return {.device = entry.device,
          .port = entry.port,
          .guid = entry.guid,
          .lid = entry.lid,
          .sm_lid = entry.sm_lid,
          .sm_sl = entry.sm_sl,
          .link_up = entry.link_up()};
}

}  // namespace

std::expected<mad::LocalPort, PortProblem> choose_port(std::span<const PortEntry> ports,
                                                       const PortSelection& selection) {
  auto usable = usable_ports(ports, selection);
  if (!usable) return std::unexpected(std::move(usable.error()));
  return std::move(usable->front());
}

std::vector<mad::LocalPort> gsi_ports_of(const mad::LocalPort& smi, std::span<const PortEntry> ports) {
  std::vector<mad::LocalPort> found;
  for (const auto& entry : ports) {
    if (entry.guid != smi.guid || entry.device == smi.device || !entry.infiniband) continue;
    const auto port = local_port(entry);
    found.insert(entry.smi_disabled ? found.begin() : found.end(), port);
  }
  return found;
}

std::expected<std::vector<mad::LocalPort>, PortProblem> usable_ports(std::span<const PortEntry> ports,
                                                                     const PortSelection& selection) {
  std::vector<mad::LocalPort> usable, without_smi;
  std::optional<PortProblem> nearest;
  for (const auto& entry : ports) {
    if (!selected(entry, selection)) continue;
    auto problem = problem_of(entry);
    if (!problem) {
      (entry.smi_disabled ? without_smi : usable).push_back(local_port(entry));
    } else if (!nearest || problem->fault > nearest->fault) {
      nearest = std::move(problem);
    }
  }
  std::ranges::move(without_smi, std::back_inserter(usable));
  if (!usable.empty()) return usable;
  if (nearest) return std::unexpected(std::move(*nearest));
  if (ports.empty()) {
    return std::unexpected(
        PortProblem{PortFault::no_device, "no InfiniBand device on this machine (ibstat lists none)"});
  }
  std::string there;
  for (const auto& entry : ports) there += (there.empty() ? "" : ", ") + description_of(entry);
  return std::unexpected(PortProblem{PortFault::no_such_port,
                                     fmt::format("no port {}; ports here: {}", to_string(selection), there)});
}

}  // namespace smd::umad
