// SPDX-License-Identifier: Apache-2.0
#include "mad/transactions/route.h"

#include <fmt/format.h>

#include "mad/wire/smp.h"

namespace smd::mad {

void write_route(wire::Mad& mad, const Route& route) {
  if (!wire::is_smp(mad.mgmt_class())) return;
  const auto* path = std::get_if<DirectedPath>(&route);
  if (path == nullptr) return mad.set_mgmt_class(wire::MgmtClass::sm_lid);
  wire::Smp::write_route(mad, *path);
}

std::string to_string(const Route& route) {
  if (const auto* lid_route = std::get_if<LidRoute>(&route)) return fmt::format("LID {}", lid_route->lid);
  const auto& path = std::get<DirectedPath>(route);
  std::string text = "0";
  for (std::size_t hop = 0; hop < path.hops(); ++hop) text += fmt::format(",{}", path.hop(hop).value());
  return text;
}

}  // namespace smd::mad
