// SPDX-License-Identifier: Apache-2.0
#pragma once
// What Prometheus reads, family by family, in pieces and compressed where it can take that.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/glob.h"
#include "smd/api/exposition.h"
#include "smd/api/router.h"
#include "smd/sweep/subnet.h"

namespace smd::api {

/// One subnet in the scrape.
struct Scraped {
  std::shared_ptr<const SubnetView> view;
  std::string_view label;  ///< "subnet" where there are several, else empty

  /// Null before the first snapshot of the subnet; valid as long as `view`.
  const sm::Snapshot* now() const { return view->snapshot.get(); }
};

/// Of text, before it is compressed.
inline constexpr std::size_t kPieceOfScrape = std::size_t{256} * 1024;

/// A node of one of the subnets, by its position.
struct ScrapePlace {
  std::size_t subnet = 0, node = 0;
};

struct Scrape {
  std::vector<Scraped> subnets;
  std::string node;          ///< a pattern of names, or a node GUID; empty: all
  std::optional<Guid> guid;  ///< that `node` is
  Exposition out;
  DaemonInfo info;
  std::optional<ScrapePlace> rest{};  ///< where the last family goes on: a piece was full before its end

  /// Exposition::family(), also where the family goes on.
  bool family(std::string_view name, Exposition::Kind kind, std::string_view help) {
    return rest || out.family(name, kind, help);
  }
  /// Calls fn(subnet, node) for nodes that were asked for: of the family that was begun last all, or as many
  /// as fill a piece, from there on where it has ended.
  template <class Fn>
  void for_each_node(Fn fn) {
    auto at = std::exchange(rest, std::nullopt).value_or(ScrapePlace{});
    for (; at.subnet < subnets.size(); at = {.subnet = at.subnet + 1, .node = 0}) {
      const auto& subnet = subnets[at.subnet];
      if (subnet.now() == nullptr) continue;
      const auto& nodes = subnet.now()->subnet->nodes;
      for (; at.node < nodes.size(); ++at.node) {
        if (out.size() >= kPieceOfScrape) {
          rest = at;
          return;
        }
        if (wants(*nodes[at.node])) fn(subnet, *nodes[at.node]);
      }
    }
  }

  /// Whether samples of this node were asked for, by its name or GUID.
  bool wants(const sm::Node& one) const {
    return node.empty() || config::matches_glob(node, one.description) || guid == one.guid();
  }
};

/// Writes some families, or one by for_each_node(): called again as long as that has a rest.
using Families = void (*)(Scrape&);

/// All of them, of the subnets that the caller sees. 503: another scrape is being sent.
Answer scrape(const Question& question, Backend& backend, std::span<const Families> families);

/// Rates of a link, and how many lanes it has.
struct Rate {
  double data = 0, raw = 0;  ///< bytes a second
  double lane = 0;           ///< Gb/s of a lane on the wire
  unsigned lanes = 0;
};
/// Nothing: the port has no link, or one of an unknown rate.
std::optional<Rate> port_rate(const sm::Port& port);

}  // namespace smd::api
