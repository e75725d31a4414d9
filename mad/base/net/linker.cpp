// SPDX-License-Identifier: Apache-2.0
#include "mad/base/net/linker.h"

#include "mad/base/parse.h"

namespace smd::base::net {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// The largest of some bits that come in order of rising worth.
template <class T, std::size_t N>
T best(std::uint8_t mask, const std::array<std::pair<std::uint8_t, T>, N>& bits, T none) {
  T result = none;
  for (const auto& [bit, value] : bits) {
    if ((mask & bit) != 0) result = value;
  }
  return result;
}

constexpr std::array<std::pair<std::uint8_t, LinkWidth>, 5> kWidths{
    {{1, LinkWidth::x1}, {16, LinkWidth::x2}, {2, LinkWidth::x4}, {4, LinkWidth::x8}, {8, LinkWidth::x12}}};
constexpr std::array<std::pair<std::uint8_t, LinkSpeed>, 3> kSpeeds{
    {{1, LinkSpeed::sdr}, {2, LinkSpeed::ddr}, {4, LinkSpeed::qdr}}};
constexpr std::array<std::pair<std::uint8_t, LinkSpeed>, 5> kSpeedsExt{{{1, LinkSpeed::fdr},
                                                                        {2, LinkSpeed::edr},
                                                                        {4, LinkSpeed::hdr},
                                                                        {8, LinkSpeed::ndr},
                                                                        {16, LinkSpeed::xdr}}};

class Linker {
 public:
  explicit Linker(Lines& lines) : lines_(lines), nodes_(lines.fabric.nodes) {
    first_port_.reserve(nodes_.size());
    std::size_t ports = 0;
    for (const auto& node : nodes_) {
      first_port_.push_back(ports);
      ports += node.ports.size();
    }
    claim_at_.assign(ports, kNone);
    for (std::uint32_t i = 0; i < lines_.claims.size(); ++i) {
      const auto& claim = lines_.claims[i];
      claim_at_[slot({claim.node, claim.port})] = i;
    }
  }

  void link_all() {
    for (std::uint32_t i = 0; i < lines_.claims.size(); ++i) link_one(i);
    for (auto& node : nodes_) drop_regular_guids(node);
  }

 private:
  std::size_t slot(Peer end) const { return first_port_[end.node] + end.port.value(); }
  FabricPort& port(Peer end) { return nodes_[end.node].ports[end.port.value()]; }
  std::string name(Peer end) const { return fmt::format("\"{}\"[{}]", nodes_[end.node].id, end.port); }

  std::optional<Peer> find_remote(const Claim& claim) {
    if (const auto found = lines_.ids.find(claim.remote_id); found != lines_.ids.end()) {
      const auto ports = nodes_[found->second].port_count();
      if (claim.remote_port >= 1 && claim.remote_port <= ports) {
        return Peer{found->second, PortNum{static_cast<std::uint8_t>(claim.remote_port)}};
      }
      lines_.error(claim.place, fmt::format("a link to port {} of {}: it has ports 1 to {}",
                                            claim.remote_port, show(claim.remote_id), ports));
      return std::nullopt;
    }
    if (const auto alias = lines_.aliases.find(claim.remote_id); alias != lines_.aliases.end())
      return alias->second;
    if (!lines_.nodes_missing) {
      lines_.error(claim.place, fmt::format("a link to {}: no node has this id", show(claim.remote_id)));
    }
    return std::nullopt;
  }

  void link_one(std::uint32_t index) {
    const auto& claim = lines_.claims[index];
    const auto remote = find_remote(claim);
    if (!remote) return;
    const Peer local{claim.node, claim.port};
    auto& other = claim_at_[slot(*remote)];
    if (other == kNone) {  // the other end has no line: this one speaks for both
      other = index;
      port(*remote).peer = local;
      port(*remote).rate = port(local).rate;
    } else if (!agrees(lines_.claims[other], local)) {
      return contradict(claim, *remote, lines_.claims[other]);
    } else if (const auto& back = lines_.claims[other]; !claim.has_rate && back.has_rate) {
      port(local).rate = port(*remote).rate;
    }
    port(local).peer = remote;
    learn(claim, *remote);
    if (claim.enabled.any() && !claim.has_rate) negotiate(claim, *remote, lines_.claims[other]);
  }

  /// Whether the claim, found at the port that `local`'s claim points to, is about the same cable. It is the
  /// same claim for a cable from a port to itself, and for one whose other end has no line.
  bool agrees(const Claim& other, Peer local) const {
    if (Peer{other.node, other.port} == local) return true;
    const auto found = lines_.ids.find(other.remote_id);
    if (found != lines_.ids.end())
      return found->second == local.node && other.remote_port == local.port.value();
    const auto alias = lines_.aliases.find(other.remote_id);
    return alias != lines_.aliases.end() && alias->second == local;
  }

  void contradict(const Claim& claim, Peer remote, const Claim& other) {
    const Peer local{claim.node, claim.port}, other_end{other.node, other.port};
    const auto said =
        other_end == remote ? fmt::format("\"{}\"[{}]", other.remote_id, other.remote_port) : name(other_end);
    lines_.error(claim.place,
                 fmt::format("{} is linked to {} here, but {} says that {} is linked to {}", name(local),
                             name(remote), lines_.refer(other.place, claim.place), name(remote), said));
  }

  /// What the line says of the other end counts where the other end does not say it itself.
  void learn(const Claim& claim, Peer remote) {
    const auto& node = nodes_[remote.node];
    const bool is_switch = node.type == NodeType::switch_;
    auto& end = port(is_switch ? Peer{remote.node, PortNum{0}} : remote);
    if (end.lid == Lid{}) end.lid = claim.remote_lid;
    if (!is_switch && end.guid == Guid{}) end.guid = claim.remote_guid;
  }

  /// ibsim's options: the best that both ends have enabled.
  void negotiate(const Claim& claim, Peer remote, const Claim& back) {
    const bool has_back = Peer{back.node, back.port} == remote;
    const auto both = [&](std::uint8_t Enabled::* field) {
      const auto here = claim.enabled.*field, there = has_back ? back.enabled.*field : std::uint8_t{0};
      if (here == 0 || there == 0) return static_cast<std::uint8_t>(here | there);
      return static_cast<std::uint8_t>(here & there);
    };
    LinkRate rate;
    if (const auto width = both(&Enabled::width); width != 0) rate.width = best(width, kWidths, rate.width);
    rate.speed =
        best(both(&Enabled::speed_ext), kSpeedsExt, best(both(&Enabled::speed), kSpeeds, rate.speed));
    if (has_back && claim.enabled.width != 0 && back.enabled.width != 0 &&
        (claim.enabled.width & back.enabled.width) == 0) {
      return lines_.error(claim.place, fmt::format("no width is enabled both here and in {}",
                                                   lines_.refer(back.place, claim.place)));
    }
    port({claim.node, claim.port}).rate = rate;
    if (!has_back || !back.has_rate) port(remote).rate = rate;
  }

  static void drop_regular_guids(FabricNode& node) {
    if (node.type == NodeType::switch_) return;
    for (std::size_t i = 1; i < node.ports.size(); ++i) {
      if (node.ports[i].guid == Guid{node.guid.value() + i}) node.ports[i].guid = Guid{};
    }
  }

  Lines& lines_;
  std::vector<FabricNode>& nodes_;
  std::vector<std::size_t> first_port_;
  std::vector<std::uint32_t>
      claim_at_;  ///< by slot: the claim of this port, else the one that made its link up
};

}  // namespace

void link(Lines& lines) { Linker(lines).link_all(); }

}  // namespace smd::base::net
