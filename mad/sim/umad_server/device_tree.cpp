// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/umad_server/device_tree.h"

#include <fmt/format.h>

#include <algorithm>

#include "mad/base/gid.h"
#include "mad/base/rate.h"
#include "mad/sim/state/tables.h"
#include "mad/sim/state/words.h"

namespace smd::sim {
namespace {

/// As ib_port_attr_to_rate and sysfs.c of Linux have it: what is not known counts as one lane of SDR.
std::string rate_text(const Port& port) {
  const auto speed = port.speed == LinkSpeed::unknown ? LinkSpeed::sdr : port.speed;
  const auto width = std::max(1U, lanes(static_cast<LinkWidth>(port.info.link_width_active)));
  const auto tenths = lane_mbps(speed) * width / 100;
  return fmt::format("{}{} Gb/sec ({}X {})", tenths / 10, tenths % 10 != 0 ? ".5" : "", width,
                     to_string(speed));
}

std::string_view state_text(PortState state) {
  switch (state) {
    case PortState::down:
      return "DOWN";
    case PortState::init:
      return "INIT";
    case PortState::armed:
      return "ARMED";
    case PortState::active:
      return "ACTIVE";
    default:
      return "NOP";
  }
}

std::string_view phys_text(PhysState state) {
  switch (state) {
    case PhysState::sleep:
      return "Sleep";
    case PhysState::polling:
      return "Polling";
    case PhysState::disabled:
      return "Disabled";
    case PhysState::training:
      return "PortConfigurationTraining";
    case PhysState::link_up:
      return "LinkUp";
    case PhysState::error_recovery:
      return "LinkErrorRecovery";
    case PhysState::phy_test:
      return "Phy Test";
    default:
      return "<unknown>";
  }
}

/// "0002:c900:0000:0010".
std::string words_of(std::uint64_t value) {
  return fmt::format("{:04x}:{:04x}:{:04x}:{:04x}", value >> 48U, (value >> 32U) & 0xFFFFU,
                     (value >> 16U) & 0xFFFFU, value & 0xFFFFU);
}

class Writer {
 public:
  explicit Writer(const State& state) : state_(state) {}

  void device(std::string_view name, const AttachedNode& attached) {
    const auto& node = state_.nodes[attached.node];
    const auto folder = fmt::format("/sys/class/infiniband/{}/", name);
    const unsigned kind = node.is_switch() ? 2 : node.type == NodeType::router ? 3 : 1;
    file(folder, "node_type",
         fmt::format("{}: {}", kind,
                     kind == 1   ? "CA"
                     : kind == 2 ? "SWITCH"
                                 : "ROUTER"));
    file(folder, "node_guid", words_of(node.guid.value()));
    file(folder, "sys_image_guid", words_of(node.system_image.value()));
    file(folder, "node_desc", node.name);
    file(folder, "fw_ver", "0.0.0");
    file(folder, "hw_rev", "a1");
    file(folder, "hca_type", fmt::format("MT{}", node.device_id));
    file(folder, "board_id", "SMD_SIM");
    for (const auto port : attached.ports) this->port(folder, port);
  }

  void mad_device(std::size_t index, std::string_view name, PortIndex port) {
    const auto folder = fmt::format("/sys/class/infiniband_mad/umad{}/", index);
    file(folder, "ibdev", name);
    file(folder, "port", fmt::format("{}", state_.ports[port].number));
  }
  void abi() { file("/sys/class/infiniband_mad/", "abi_version", "5"); }
  void issm(std::size_t index, std::string_view name, PortIndex port) {
    const auto folder = fmt::format("/sys/class/infiniband_mad/issm{}/", index);
    file(folder, "ibdev", name);
    file(folder, "port", fmt::format("{}", state_.ports[port].number));
  }
  void node(std::string_view path) { file("", path, ""); }
  std::string take() { return std::move(text_); }

 private:
  void file(std::string_view folder, std::string_view name, std::string_view content) {
    text_ += folder;
    text_ += name;
    text_ += '\0';
    for (const char c : content) text_ += c == '\0' ? ' ' : c;
    text_ += '\n';
    text_ += '\0';
  }

  void port(const std::string& device, PortIndex index) {
    const auto& port = state_.ports[index];
    const auto& info = port.info;
    const auto folder = fmt::format("{}ports/{}/", device, port.number);
    file(folder, "lid", fmt::format("{:#x}", info.lid.value()));
    file(folder, "lid_mask_count", fmt::format("{}", info.lmc));
    file(folder, "sm_lid", fmt::format("{:#x}", info.sm_lid.value()));
    file(folder, "sm_sl", fmt::format("{}", info.master_sm_sl));
    file(folder, "state",
         fmt::format("{}: {}", static_cast<unsigned>(info.port_state), state_text(info.port_state)));
    file(folder, "phys_state",
         fmt::format("{}: {}", static_cast<unsigned>(info.phys_state), phys_text(info.phys_state)));
    file(folder, "rate", rate_text(port));
    file(folder, "cap_mask", fmt::format("{:#010x}", info.capability_mask));
    file(folder, "link_layer", "InfiniBand");
    gids(folder + "gids/", index);
    for (unsigned i = 0; i < pkey_capacity(state_, index); ++i)
      file(folder, fmt::format("pkeys/{}", i), fmt::format("{:#06x}", p_key(state_, index, i).value()));
  }

  void gids(const std::string& folder, PortIndex index) {
    const auto& port = state_.ports[index];
    const auto prefix = words_of(port.info.gid_prefix);
    for (unsigned i = 0; i < port.info.guid_cap; ++i) {
      std::uint64_t guid = i == 0 ? port.guid.value() : 0;
      if (i != 0 && port.tables && i < port.tables->guids.size()) guid = port.tables->guids[i];
      file(folder, fmt::format("{}", i), fmt::format("{}:{}", prefix, words_of(guid)));
    }
  }

  const State& state_;
  std::string text_;
};

std::expected<void, std::string> add_place(const State& state, std::string_view text,
                                           std::vector<AttachedNode>& nodes) {
  std::optional<unsigned> number;
  const auto index = parse_place(state, text, number);
  if (!index) return std::unexpected(fmt::format("{}: no such node in the fabric", text));
  if (is_ambiguous(state, text))
    return std::unexpected(fmt::format("{}: several nodes have this name; give one's GUID (0x…)", text));
  const auto& node = state.nodes[*index];
  const unsigned first = node.is_switch() ? 0 : 1, last = node.is_switch() ? 0 : node.ports;
  if (number && (*number < first || *number > last)) {
    return std::unexpected(
        fmt::format("{}: the node's ports with a management interface are {} to {}", text, first, last));
  }
  auto attached = std::ranges::find(nodes, *index, &AttachedNode::node);
  if (attached == nodes.end())
    attached = nodes.insert(nodes.end(), AttachedNode{.node = *index, .ports = {}});
  for (unsigned i = number.value_or(first); i <= number.value_or(last); ++i)
    attached->ports.push_back(state.index(node, i));
  std::ranges::sort(attached->ports);
  const auto twice = std::ranges::unique(attached->ports);
  attached->ports.erase(twice.begin(), twice.end());
  return {};
}

}  // namespace

std::expected<std::vector<AttachedNode>, std::string> attached_nodes(const State& state,
                                                                     std::string_view places) {
  std::vector<AttachedNode> nodes;
  while (!places.empty()) {
    const auto line = places.substr(0, places.find('\n'));
    places.remove_prefix(std::min(places.size(), line.size() + 1));
    if (line.empty()) continue;
    if (auto added = add_place(state, line, nodes); !added) return std::unexpected(added.error());
  }
  if (nodes.empty()) return std::unexpected("no node given");
  return nodes;
}

std::optional<PortIndex> device_port(const std::vector<AttachedNode>& nodes, std::size_t index) {
  for (const auto& node : nodes) {
    if (index < node.ports.size()) return node.ports[index];
    index -= node.ports.size();
  }
  return std::nullopt;
}

std::string device_files(const State& state, const std::vector<AttachedNode>& nodes) {
  struct Device {
    std::string name;
    PortIndex port;
  };
  Writer writer(state);
  std::vector<Device> devices;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto name = fmt::format("mlx5_{}", i);
    writer.device(name, nodes[i]);
    for (const auto port : nodes[i].ports) devices.push_back({name, port});
  }
  writer.abi();
  for (std::size_t i = 0; i < devices.size(); ++i) writer.mad_device(i, devices[i].name, devices[i].port);
  for (std::size_t i = 0; i < devices.size(); ++i) writer.issm(i, devices[i].name, devices[i].port);
  for (std::size_t i = 0; i < devices.size(); ++i) writer.node(fmt::format("/dev/infiniband/umad{}", i));
  for (std::size_t i = 0; i < devices.size(); ++i) writer.node(fmt::format("/dev/infiniband/issm{}", i));
  return writer.take();
}

}  // namespace smd::sim
