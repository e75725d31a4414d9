// SPDX-License-Identifier: Apache-2.0
// Parallel-port generalised fat trees, PGFT(h; m1..mh; w1..wh; p1..ph): Öhring, Ibel, Das and Kumar, "On
// Generalized Fat Trees" (IPPS 1995), with Zahavi's parallel links (CCIT report 776, 2010). A node of level
// i-1 has w_i parents and p_i links to each; a node of level i has m_i children. Level 0 are the hosts.
#include <fmt/format.h>

#include "mad/base/spec/builder.h"
#include "mad/base/spec/generators.h"

namespace smd::base::spec {
namespace {

struct Tree {
  Numbers m, w, p;  ///< [0] is the paper's index 1
  std::size_t height() const { return m.size(); }
  /// A node's number has a digit a level: of base w up to its own level, of base m above; digit 1 counts
  /// least.
  std::uint64_t nodes(std::size_t level) const {
    return times(product(std::span(w).first(level)), product(std::span(m).subspan(level)));
  }
  unsigned down_ports(std::size_t level) const { return level == 0 ? 0 : m[level - 1] * p[level - 1]; }
  unsigned up_ports(std::size_t level) const { return level == height() ? 0 : w[level] * p[level]; }
};

std::expected<Tree, std::string> parse(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = text.find(';');
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  if (parts.size() != 4) return std::unexpected("four parts with ';' between are needed: h;m1,…;w1,…;p1,…");
  const auto height = number(parts[0], {"h", 1, kMostLids});
  if (!height) return std::unexpected(height.error());
  Tree tree;
  for (auto [part, name, numbers] : {std::tuple{1, "m", &tree.m}, {2, "w", &tree.w}, {3, "p", &tree.p}}) {
    auto values = list(parts[static_cast<std::size_t>(part)], ',', {name, 1, kMostPorts});
    if (!values) return std::unexpected(values.error());
    if (values->size() != *height) {
      return std::unexpected(fmt::format("{} has {} numbers: h is {}, so {} are needed", name, values->size(),
                                         *height, *height));
    }
    *numbers = *std::move(values);
  }
  return tree;
}

std::string too_large(const Tree& tree) {
  std::uint64_t switches = 0, ports = 0;
  for (std::size_t level = 1; level <= tree.height() && switches <= kMostLids; ++level) {
    switches += tree.nodes(level);
    ports = std::max<std::uint64_t>(ports, tree.down_ports(level) + tree.up_ports(level));
  }
  if (tree.up_ports(0) > kMostPorts) {
    return fmt::format("a host would have {} ports: at most {} are possible", tree.up_ports(0), kMostPorts);
  }
  return spec::too_large(switches, times(tree.nodes(0), tree.up_ports(0)), ports);
}

/// All links between `level` and the one above. Up port b + k*w is link k to parent b, down port c + k*m is
/// link k to child c (Zahavi's numbering, ours starting behind the down ports and at 1).
void link_levels(FabricBuilder& fabric, const Tree& tree, std::size_t level, NodeIndex first_child,
                 NodeIndex first_parent) {
  const unsigned m = tree.m[level], w = tree.w[level], p = tree.p[level];
  const auto low = static_cast<unsigned>(product(std::span(tree.w).first(level)));
  for (unsigned child = 0; child < tree.nodes(level); ++child) {
    const unsigned c = child / low % m, above = child / low / m;
    for (unsigned b = 0; b < w; ++b) {
      const unsigned parent = child % low + low * (b + w * above);
      for (unsigned k = 0; k < p; ++k) {
        fabric.link(first_child + child, tree.down_ports(level) + 1 + b + k * w, first_parent + parent,
                    1 + c + k * m);
      }
    }
  }
}

}  // namespace

Result xgft(Args args) {
  const auto tree = parse(args[0]);
  if (!tree) return std::unexpected(tree.error());
  if (auto why = too_large(*tree); !why.empty()) return std::unexpected(std::move(why));

  FabricBuilder fabric;
  std::vector<NodeIndex> first(tree->height() + 1);
  NodeIndex next = 0;
  for (std::size_t level = 1; level <= tree->height(); ++level) {
    first[level] = next;
    for (unsigned i = 0; i < tree->nodes(level); ++i) {
      next = fabric.add_switch(fmt::format("s{}-{:04}", level, i),
                               tree->down_ports(level) + tree->up_ports(level)) +
             1;
    }
  }
  first[0] = next;
  for (unsigned i = 0; i < tree->nodes(0); ++i) fabric.add_host(fmt::format("h{:05}", i), tree->up_ports(0));
  for (std::size_t level = 0; level < tree->height(); ++level) {
    link_levels(fabric, *tree, level, first[level], first[level + 1]);
  }
  return fabric.take();
}

}  // namespace smd::base::spec
