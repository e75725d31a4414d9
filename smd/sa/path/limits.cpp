// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/path/limits.h"

#include <algorithm>

namespace smd::sa {

using wire::Selector;

std::optional<Mtu> limited(Mtu has, const std::optional<Limit<Mtu>>& limit) {
  if (!limit) return has;
  const auto value = static_cast<std::uint8_t>(limit->value);
  const auto own = static_cast<std::uint8_t>(has);
  switch (limit->selector) {
    case Selector::greater:
      return own > value ? std::optional(has) : std::nullopt;
    case Selector::less:
      if (value <= static_cast<std::uint8_t>(Mtu::m256)) return std::nullopt;
      return static_cast<Mtu>(std::min<int>(own, value - 1));
    case Selector::exactly:
      if (value == 0 || own < value) return std::nullopt;
      return limit->value;
    case Selector::largest:
      return has;
  }
  return std::nullopt;
}

std::optional<StaticRate> limited(StaticRate has, const std::optional<Limit<std::uint8_t>>& limit) {
  if (!limit || limit->selector == Selector::largest) return has;
  const auto mbps = rate_mbps(limit->value);
  if (mbps == 0) return std::nullopt;
  switch (limit->selector) {
    case Selector::greater:
      return has.mbps > mbps ? std::optional(has) : std::nullopt;
    case Selector::exactly:
      return has.mbps >= mbps ? std::optional(StaticRate{limit->value, mbps}) : std::nullopt;
    case Selector::less: {
      std::optional<StaticRate> best;
      for (const auto& rate : kStaticRates) {
        if (rate.mbps < mbps && rate.mbps <= has.mbps) best = rate;
      }
      return best;
    }
    case Selector::largest:
      break;
  }
  return has;
}

bool meets(std::uint8_t life, const std::optional<Limit<std::uint8_t>>& limit) {
  if (!limit) return true;
  switch (limit->selector) {
    case Selector::greater:
      return life > limit->value;
    case Selector::less:
      return life < limit->value;
    case Selector::exactly:
      return life == limit->value;
    case Selector::largest:
      return true;
  }
  return false;
}

}  // namespace smd::sa
