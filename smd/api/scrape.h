// SPDX-License-Identifier: Apache-2.0
#pragma once
// What Prometheus reads, family by family, in pieces and compressed where it can take that.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

struct Scrape {
  std::vector<Scraped> subnets;
  std::string node;          ///< a pattern of names, or a node GUID; empty: all
  std::optional<Guid> guid;  ///< that `node` is
  Exposition out;
  DaemonInfo info;

  /// Whether samples of this node were asked for, by its name or GUID.
  bool wants(const sm::Node& one) const {
    return node.empty() || config::matches_glob(node, one.description) || guid == one.guid();
  }
};

/// Writes some families.
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
