// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/found_defaults.h"

#include <algorithm>

#include "smd/sweep/end_ports.h"
#include "smd/sweep/pkeys.h"

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
  const bool in_service = node.is_switch() ? port.info.lid.unicast() : port.info.port_state > PortState::init;
  const auto decided =
      full_by(stored_.pkeys.contains({guid, kDefaultPKey}), stored_.pkeys.contains({guid, kLimitedDefault}));
  if (decided) return decided;
  const auto& held = port.held<wire::PKeyTable>();
  if (in_service && held && held->known.test(0)) return full_in(keys_of(*held));
  const auto row = stored_.port_keys.find(guid);
  return row != stored_.port_keys.end() ? full_in(row->second.keys) : std::nullopt;
}

bool FoundDefaults::any_limited() {
  if (any_limited_) return *any_limited_;
  any_limited_ = std::ranges::any_of(subnet_.nodes, [&](const NodePtr& node) {
    for (std::size_t p = 0; p < node->ports.size(); ++p) {
      const PortNum num{static_cast<std::uint8_t>(p)};
      if (is_end_port(*node, num) && is_full(*node, num) == false) return true;
    }
    return false;
  });
  return *any_limited_;
}

config::Membership FoundDefaults::membership(const PeerPort& at) {
  const auto* node = subnet_.find(at.node);
  auto full = node != nullptr ? is_full(*node, at.port) : std::nullopt;
  if (!full) full = !any_limited();
  return *full ? config::Membership::full : config::Membership::limited;
}

}  // namespace smd::sm::inline decisions
