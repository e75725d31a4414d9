// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/found_defaults.h"

#include <algorithm>

#include "smd/decide/known_keys.h"
#include "smd/sweep/end_ports.h"

namespace smd::sm::inline decisions {
namespace {

constexpr PKey kLimitedDefault{kDefaultPKey.partition()};

/// Nothing where it has neither.
std::optional<bool> full_by(bool has_full, bool has_limited) {
  if (has_full == has_limited) return has_full ? std::optional(false) : std::nullopt;
  return has_full;
}

std::optional<bool> full_in(const std::vector<PKey>& keys) {
  const auto has = [&](PKey key) { return std::ranges::find(keys, key) != keys.end(); };
  if (has(kDefaultPKey)) return true;
  return full_by(false, has(kLimitedDefault));
}

}  // namespace

std::optional<bool> FoundDefaults::is_full(const Node& node, PortNum num) const {
  const auto guid = port_guid(node, num);
  const auto& port = node.ports[num.value()];
  const auto decided =
      full_by(stored_.pkeys.contains({guid, kDefaultPKey}), stored_.pkeys.contains({guid, kLimitedDefault}));
  if (decided) return decided;
  if (is_in_service(node, port)) {
    if (const auto keys = known_keys(port)) return full_in(*keys);
  }
  const auto row = stored_.port_keys.find(guid);
  return row != stored_.port_keys.end() ? full_in(row->second.keys) : std::nullopt;
}

bool FoundDefaults::any_limited() {
  if (any_limited_) return *any_limited_;
  bool found = false;
  for_each_end_port(subnet_, [&](const Node& node, PortNum num, const Port&) {
    found = found || is_full(node, num) == false;
  });
  any_limited_ = found;
  return found;
}

config::Membership FoundDefaults::membership(const PeerPort& at) {
  const auto* node = subnet_.find(at.node);
  auto full = node != nullptr ? is_full(*node, at.port) : std::nullopt;
  if (!full) full = !any_limited();
  return *full ? config::Membership::full : config::Membership::limited;
}

}  // namespace smd::sm::inline decisions
