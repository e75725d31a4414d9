// SPDX-License-Identifier: Apache-2.0
#include "smd/report/sweep_json.h"

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace smd::sm::inline reports {

Json sweep_json(const SweepSummary& summary) {
  JsonObject object;
  for_each_field(summary, [&](std::string_view key, auto value) {
    if constexpr (std::is_same_v<decltype(value), std::string_view>) {
      object.emplace(key, Json(std::string(value)));
    } else {
      object.emplace(key, Json(value));
    }
  });
  return Json(std::move(object));
}

}  // namespace smd::sm::inline reports
