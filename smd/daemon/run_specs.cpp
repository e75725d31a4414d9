// SPDX-License-Identifier: Apache-2.0
#include "smd/daemon/run_specs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "mad/base/fabric_spec.h"
#include "mad/base/parse.h"
#include "smd/daemon/sim_socket.h"

namespace smd::daemon {
namespace {

std::string text_of(const base::FileErrors& errors) {
  std::string text;
  for (const auto& error : errors)
    fmt::format_to(std::back_inserter(text), "{}{}", text.empty() ? "" : "\n", base::to_string(error));
  return text;
}

InstanceSpec spec_with(const config::SubnetConfig& config, umad::PortSelection port) {
  InstanceSpec spec;
  spec.config = config;
  spec.where = umad::to_string(port);
  spec.ends = local_port(std::move(port));
  return spec;
}

std::expected<InstanceSpec, Failure> port_spec(const std::string& text, const config::SubnetConfig& config) {
  const auto port = umad::parse_port(text);
  if (!port) {
    return std::unexpected(Failure{
        2, fmt::format("--port \"{}\": not a port; a device's name, or DEV:N with N from 1 to 254", text)});
  }
  return spec_with(config, *port);
}

std::expected<InstanceSpec, Failure> guid_spec(const std::string& text, const config::SubnetConfig& config) {
  const auto guid = base::parse_guid(text);
  if (!guid || *guid == Guid{}) {
    return std::unexpected(Failure{
        2,
        fmt::format("--port-guid \"{}\": not a GUID; up to 16 hexadecimal digits, not all of them 0", text)});
  }
  return spec_with(config, *guid);
}

/// The first fabric is served; by itself only where smd stays.
SimSocket socket_of(const RunOptions& options, bool first) {
  if (!first) return {};
  if (!options.sim_socket.empty()) return {.path = options.sim_socket, .must = true};
  return options.once || options.dry_run ? SimSocket{} : SimSocket{.path = sim_socket_to_serve()};
}

std::expected<InstanceSpec, Failure> sim_spec(const std::string& text, const RunOptions& options,
                                              const config::SubnetConfig& config,
                                              std::set<std::string>& names) {
  auto fabric = base::load_fabric(text);
  if (!fabric) return std::unexpected(Failure{2, text_of(fabric.error())});
  InstanceSpec spec;
  spec.config = config;
  spec.is_simulated = true;
  spec.name = text;
  for (unsigned i = 2; !names.insert(spec.name).second; ++i) spec.name = fmt::format("{}-{}", text, i);
  spec.where = text;
  spec.ends = simulated(std::move(*fabric), socket_of(options, names.size() == 1));
  return spec;
}

}  // namespace

std::vector<InstanceSpec> configured_specs(const config::Config& config) {
  std::vector<InstanceSpec> specs;
  for (const auto& subnet : config.subnets) {
    umad::PortSelection port = umad::AnyPort{};
    if (subnet.port_guid) port = *subnet.port_guid;
    // Checked by the configuration already.
    if (const auto named = umad::parse_port(subnet.port); !subnet.port.empty() && named) port = *named;
    auto spec = spec_with(subnet, std::move(port));
    spec.name = subnet.name;
    specs.push_back(std::move(spec));
  }
  return specs;
}

std::expected<std::vector<InstanceSpec>, Failure> instance_specs(const RunOptions& options,
                                                                 const config::Config& config) {
  std::vector<InstanceSpec> specs;
  std::set<std::string> names;
  const auto add = [&](std::expected<InstanceSpec, Failure>&& spec) -> std::optional<Failure> {
    if (!spec) return std::move(spec.error());
    specs.push_back(std::move(*spec));
    return std::nullopt;
  };
  for (const auto* given : {&options.ports, &options.port_guids}) {
    for (const auto& text : *given) {
      if (std::ranges::count(*given, text) > 1)
        return std::unexpected(Failure{2, fmt::format("\"{}\" is given twice: a port has one subnet", text)});
    }
  }
  for (const auto& text : options.ports) {
    if (auto failure = add(port_spec(text, config.base))) return std::unexpected(*failure);
  }
  for (const auto& text : options.port_guids) {
    if (auto failure = add(guid_spec(text, config.base))) return std::unexpected(*failure);
  }
  for (const auto& text : options.sims) {
    if (auto failure = add(sim_spec(text, options, config.base, names))) return std::unexpected(*failure);
  }
  return specs.empty() ? configured_specs(config) : std::move(specs);
}

}  // namespace smd::daemon
