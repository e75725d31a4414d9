// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/known_keys.h"

#include <algorithm>

#include "smd/sweep/pkeys.h"

namespace smd::sm::inline decisions {

std::optional<std::vector<PKey>> known_keys(const Port& port) {
  const auto& held = port.held<wire::PKeyTable>();
  if (!held || !held->known.test(0)) return std::nullopt;
  auto keys = keys_of(*held);
  while (!keys.empty() && keys.back() == PKey{}) keys.pop_back();
  for (std::size_t block = 1; block < held->row.size(); ++block) {
    if (!held->known.test(block) && !is_as_made(keys)) return std::nullopt;
  }
  return keys;
}

// Rows of keys that a port had stay when the key goes, and so does the highest index.
bool had_further_keys(const Stored& stored, Guid port) {
  for (auto row = stored.pkeys.lower_bound({port, PKey{}});
       row != stored.pkeys.end() && row->first.first == port; ++row) {
    if (row->second >= kPKeysOfBlock) return true;
  }
  const auto foreign = stored.port_keys.find(port);
  return foreign != stored.port_keys.end() && foreign->second.keys.size() > kPKeysOfBlock;
}

bool any_other_keys(const Stored& stored) {
  return std::ranges::any_of(stored.port_keys, [](const auto& row) {
    const auto& keys = row.second.keys;
    return keys.size() > 1 || (keys.size() == 1 && keys.front() != kDefaultPKey);
  });
}

bool is_in_service(const Node& node, const Port& port) {
  if (node.is_switch()) return node.forwards() && port.info.lid.unicast();
  return port.info.port_state > PortState::init;
}

}  // namespace smd::sm::inline decisions
