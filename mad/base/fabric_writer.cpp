// SPDX-License-Identifier: Apache-2.0
// Spaces, tabs and number formats are those of ibnetdiscover's output (rdma-core 44, seen through ibsim).
#include <fmt/format.h>

#include <iterator>

#include "mad/base/fabric_file.h"
#include "mad/base/parse.h"

namespace smd::base {
namespace {

class Writer {
 public:
  explicit Writer(const Fabric& fabric) : nodes_(fabric.nodes) {}

  std::string write() {
    text_ = "#\n# Topology file: written by smd\n#\n";
    for (const auto& node : nodes_) {
      node_lines(node);
      for (unsigned port = 1; port <= node.port_count(); ++port) {
        const auto& peer = node.ports[port].peer;
        if (peer) port_line(node, PortNum{static_cast<std::uint8_t>(port)}, *peer);
      }
    }
    return std::move(text_);
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  void put_name(const std::string& name) {
    text_ += '"';
    for (const char c : name) text_ += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    text_ += '"';
  }

  static Lid lid_of(const FabricNode& node, PortNum port) {
    return node.ports[node.type == NodeType::switch_ ? 0 : port.value()].lid;
  }

  void node_lines(const FabricNode& node) {
    const bool is_switch = node.type == NodeType::switch_, is_router = node.type == NodeType::router;
    put("\nvendid=0x{:x}\ndevid=0x{:x}\n", node.vendor_id, node.device_id);
    if (node.system_image != Guid{}) put("sysimgguid=0x{:x}\n", node.system_image.value());
    put("{}guid=0x{:x}", is_switch ? "switch" : is_router ? "rt" : "ca", node.guid.value());
    if (is_switch) put("({:x})", port_guid(node, PortNum{0}).value());
    put("\n{}\t{} \"{}\"\t\t# ", is_switch ? "Switch" : is_router ? "Rt" : "Ca", node.port_count(), node.id);
    put_name(node.name);
    if (is_switch) {
      const auto& own = node.ports[0];
      put(" {} port 0 lid {} lmc {}", node.enhanced_port0 ? "enhanced" : "base", own.lid, own.lmc);
    }
    text_ += '\n';
  }

  void port_line(const FabricNode& node, PortNum number, const Peer& peer) {
    const auto& port = node.ports[number.value()];
    const auto& other = nodes_[peer.node];
    const bool is_switch = node.type == NodeType::switch_, to_switch = other.type == NodeType::switch_;
    put("[{}]", number);
    if (!is_switch) put("({:x}) ", port_guid(node, number).value());
    put("\t\"{}\"[{}]", other.id, peer.port);
    if (!to_switch) put("{}({:x}) ", is_switch ? "" : " ", port_guid(other, peer.port).value());
    text_ += "\t\t# ";
    if (!is_switch) put("lid {} lmc {} ", port.lid, port.lmc);
    put_name(other.name);
    put(" lid {} {}\n", lid_of(other, peer.port), to_string(port.rate));
  }

  const std::vector<FabricNode>& nodes_;
  std::string text_;
};

}  // namespace

std::string write_fabric(const Fabric& fabric) { return Writer(fabric).write(); }

}  // namespace smd::base
