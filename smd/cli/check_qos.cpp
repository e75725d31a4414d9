// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/check_qos.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/qos_classes.h"
#include "config/qos_sources.h"
#include "smd/decide/qos_kinds.h"
#include "smd/policy/policies.h"
#include "smd/report/qos_directions.h"
#include "smd/report/qos_explanation.h"
#include "smd/report/qos_svg.h"

namespace smd::cli {
namespace {

/// Kinds of ports whose tables are alike.
struct Kind {
  std::string names;
  sm::QosPart::Tables tables;
};

/// The links that the answer is for: as asked, within what [links] leaves them.
struct LinksShown {
  unsigned vls;
  unsigned mtu;  ///< bytes
  bool fewer_vls;
};

LinksShown links_of(const config::LinksConfig& links, const QosCheck& check) {
  const unsigned most = links.operational_vls == 0 ? check.vls : links.operational_vls;
  const unsigned mtu = links.mtu == Mtu::none ? check.mtu : bytes(links.mtu);
  return {.vls = std::min(check.vls, most), .mtu = std::min(check.mtu, mtu), .fewer_vls = most < check.vls};
}

std::vector<Kind> kinds_of(const config::SubnetConfig& subnet, const config::QosPolicy& policy,
                           const QosCheck& check) {
  const auto& qos = subnet.qos;
  const auto code = sm::operational_vls_code(check.vls);
  const bool arbitrates = code > 1;
  const auto entries = static_cast<std::uint8_t>(arbitrates ? check.entries : 0U);
  const sm::QosCapacity port0{
      .vls = code, .maps_sls = true, .arbitrates = arbitrates, .low = entries, .high = entries};
  auto of_link = port0;
  of_link.vls = sm::operational_vls_code(links_of(subnet.links, check).vls);
  std::vector<Kind> kinds;
  const auto add = [&](const std::string& name, config::PortClass of, const config::QosPorts* set) {
    const auto asked = policy.classes.empty() ? sm::qos_kind(qos, of, set) : sm::class_kind(qos, of, policy);
    auto tables = sm::limited(asked, of == config::PortClass::switch_port0 ? port0 : of_link);
    const auto same = std::ranges::find(kinds, tables, &Kind::tables);
    if (same != kinds.end()) {
      same->names += ", " + name;
    } else {
      kinds.push_back({name, std::move(tables)});
    }
  };
  const std::pair<std::string_view, config::PortClass> classes[] = {
      {"adapters", config::PortClass::ca},
      {"switches", config::PortClass::switch_external},
      {"enhanced ports 0", config::PortClass::switch_port0},
      {"routers", config::PortClass::router}};
  for (const auto& [name, of] : classes) add(std::string(name), of, nullptr);
  for (std::size_t i = 0; i < qos.ports.size(); ++i) {
    for (const auto& [name, of] : classes)
      add(fmt::format("{} of [[qos.ports]] {}", name, i + 1), of, &qos.ports[i]);
  }
  return kinds;
}

/// "2 VLs ([links] operational_vls)".
std::string link_vls_text(const config::SubnetConfig& subnet, const QosCheck& check) {
  const auto links = links_of(subnet.links, check);
  return fmt::format("{} VL{}{}", links.vls, links.vls == 1 ? "" : "s",
                     links.fewer_vls ? " ([links] operational_vls)" : "");
}

/// Those that are asked for.
std::vector<const config::SubnetConfig*> subnets_of(const config::Config& config, const QosCheck& check) {
  std::vector<const config::SubnetConfig*> found;
  for (const auto& subnet : config.subnets) {
    if (check.subnet.empty() || subnet.name == check.subnet) found.push_back(&subnet);
  }
  return found;
}

}  // namespace

void add_qos_options(CLI::App& command, QosCheck& check) {
  auto* qos = command.add_flag("--qos", check.asked, "VL, weight and share of each service level in use");
  command.add_option("--vls", check.vls, "--qos: data VLs of the links (default: 8)")
      ->check(CLI::IsMember({1U, 2U, 4U, 8U, 15U}))
      ->needs(qos);
  command
      .add_option("--vlarb-entries", check.entries,
                  "--qos: entries of each VL arbitration table (default: 8)")
      ->check(CLI::Range(1U, 64U))
      ->needs(qos);
  command.add_option("--mtu", check.mtu, "--qos: bytes of payload in each packet (default: 4096)")
      ->check(CLI::IsMember({256U, 512U, 1024U, 2048U, 4096U}))
      ->needs(qos);
  command.add_option("--subnet", check.subnet, "--qos: one of several subnets (default: all)")
      ->type_name("NAME")
      ->needs(qos);
  command.add_option("--svg", check.svg, "--qos: also as a picture, into this file")
      ->type_name("FILE")
      ->needs(qos);
}

sm::QosExplanation explain_config(const config::SubnetConfig& subnet, const QosCheck& check) {
  sm::QosExplanation found{.enabled = subnet.qos.enabled,
                           .may_have_layers = subnet.routing.path_sl == config::PathSl::asked};
  if (!found.enabled) return found;
  const auto policy = config::qos_policy_of(subnet);
  const auto partitions = policy::merged_policy(subnet, {});
  found.uses = sm::qos_uses(config::master_sm_sl(subnet), &policy, partitions.get());
  const auto mtu = links_of(subnet.links, check).mtu;
  for (const auto& kind : kinds_of(subnet, policy, check)) {
    auto view = sm::explain_kind(kind.names, kind.tables, found.uses, mtu);
    sm::note_shares(view, found.uses, policy);
    found.kinds.push_back(std::move(view));
  }
  for (auto& line : sm::one_way_rules(policy)) found.warnings.push_back(std::move(line));
  if (found.may_have_layers)
    found.warnings.push_back(
        "[routing] path_sl is \"asked\": where routes have several layers (smd qos says so) each path has an "
        "SL of its own, programs get it by PathRecord only, and NCCL_IB_SL and UCX_IB_SL may not be set");
  return found;
}

void print_qos(std::ostream& out, const config::Config& config, const QosCheck& check) {
  for (const auto* one : subnets_of(config, check)) {
    const auto& subnet = *one;
    if (config.subnets.size() > 1) out << "subnet " << subnet.name << '\n';
    if (subnet.qos.enabled)
      out << fmt::format("QoS with {} and arbitration tables of {} entr{}.", link_vls_text(subnet, check),
                         check.entries, check.entries == 1 ? "y" : "ies");
    const auto found = explain_config(subnet, check);
    if (subnet.qos.enabled) out << (found.warnings.empty() ? ' ' : '\n');
    sm::print_qos(out, found);
  }
}

void print_qos_warnings(std::ostream& out, const config::Config& config) {
  for (const auto& subnet : config.subnets) {
    const auto found = explain_config(subnet, {});
    auto count = found.warnings.size() - (found.enabled && found.may_have_layers ? 1U : 0U);
    for (const auto& kind : found.kinds) count += kind.warnings.size();
    if (count == 0) continue;
    out << fmt::format("QoS{}{}: {} warning{} with {}: smd check --qos\n",
                       config.subnets.size() > 1 ? " of subnet " : "",
                       config.subnets.size() > 1 ? subnet.name : "", count, count == 1 ? "" : "s",
                       link_vls_text(subnet, {}));
  }
}

void print_qos_json(std::ostream& out, const config::Config& config, const QosCheck& check) {
  for (const auto* subnet : subnets_of(config, check)) {
    auto json = sm::qos_json(explain_config(*subnet, check));
    json.as_object().emplace("subnet", sm::Json(subnet->name));
    out << sm::to_text(json) << '\n';
  }
}

std::optional<std::string> qos_hindrance(const config::Config& config, const QosCheck& check) {
  std::vector<std::string> all, enabled;
  for (const auto& subnet : config.subnets) all.push_back(subnet.name);
  const auto asked = subnets_of(config, check);
  if (asked.empty())
    return fmt::format("--subnet: found \"{}\", allowed: {}", check.subnet, fmt::join(all, ", "));
  for (const auto* subnet : asked) {
    if (subnet->qos.enabled) enabled.push_back(subnet->name);
  }
  if (check.svg.empty() || enabled.size() < 2) return std::nullopt;
  return fmt::format("--svg draws one subnet, and several have QoS: choose one with --subnet: {}",
                     fmt::join(enabled, ", "));
}

bool write_qos_picture(const config::Config& config, const QosCheck& check) {
  const auto asked = subnets_of(config, check);
  const auto subnet = std::ranges::find_if(asked, [](const auto* one) { return one->qos.enabled; });
  std::ofstream file(check.svg);
  if (subnet != asked.end())
    sm::write_qos_svg(file, explain_config(**subnet, check),
                      config.subnets.size() > 1 ? (*subnet)->name : std::string());
  file.close();
  return file.good();
}

}  // namespace smd::cli
