// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/vl_limit.h"

#include <algorithm>

#include "smd/decide/installed_engine.h"
#include "smd/decide/qos_kinds.h"

namespace smd::sm::inline decisions {
namespace {

/// 0: none is stored.
unsigned layers_stored(const Stored& stored) {
  if (!stored.layers_now) return 0;
  unsigned layers = 1;
  const auto& by_pair = stored.layers_now->layers;
  for (std::size_t a = 0; a < stored.layers_now->switches.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (const unsigned layer = by_pair.at(a, b); layer != routing::kNoLayer)
        layers = std::max(layers, layer + 1);
    }
  }
  return layers;
}

/// What `number` says of the layers that connections use; 0 where there are none.
template <class Number>
unsigned in_use(const DecideInput& in, const Number& number) {
  using enum DecideInput::Fresh;
  if (in.vl_budget || in.fresh == new_layers || in.fresh == any_engine) return 0;
  if (in.config.routing.path_sl != config::PathSl::asked) return 0;
  const auto* before = in.previous != nullptr ? in.previous->routes.get() : nullptr;
  const auto layers = before != nullptr ? number(before->layers) : layers_stored(in.stored);
  return layers > 1 && has_active_end_port(in.subnet) ? layers : 0;
}

/// The least number of VLs that OperationalVLs has a code for; all where there is none.
unsigned with_room_for(std::size_t lanes) {
  std::uint8_t code = 1;
  while (code < operational_vls_code(VlLimit{}.vls) && vls_of_code(code) < lanes) ++code;
  return vls_of_code(code);
}

}  // namespace

unsigned layers_in_use(const DecideInput& in) {
  if (most_vls_between_switches(in.config.qos) == VlLimit{}.vls) return 0;
  return in_use(in, [](const routing::Layers& layers) { return layers.vl_indexes(); });
}

unsigned layers_with_sls(const DecideInput& in) {
  return in_use(in, [](const routing::Layers& layers) { return layers.count; });
}

VlLimit vl_limit(const config::QosConfig& qos, const SlPart* before, unsigned layers, std::size_t classes) {
  const auto configured = most_vls_between_switches(qos);
  if (layers <= configured) return {.vls = configured};
  const auto known = before != nullptr ? before->limit.vls : 0;
  return {.vls = known >= layers ? known : with_room_for(classes * layers), .waits = configured};
}

}  // namespace smd::sm::inline decisions
