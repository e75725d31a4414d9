// SPDX-License-Identifier: Apache-2.0
// Which subnets a caller sees: a tenant needs the name of its own for every other path.
#include "smd/api/handlers.h"
#include "smd/api/json_out.h"

namespace smd::api {

using sm::Json;
using sm::JsonArray;
using sm::JsonObject;

Answer get_subnets(const Question& question, Backend& backend) {
  JsonArray subnets;
  for (const auto& view : backend.subnets()) {
    const auto right = question.access->in(view->name);
    if (!right) continue;
    JsonObject subnet{{"subnet", text(view->name)}, {"role", text(to_string(right->role))}};
    if (const auto only = question.access->only_partitions(view->name)) {
      JsonArray partitions;
      for (const auto& name : *only) partitions.push_back(text(name));
      subnet.emplace("partitions", Json(std::move(partitions)));
    }
    subnets.push_back(Json(std::move(subnet)));
  }
  return answer_of(Json(JsonObject{{"subnets", Json(std::move(subnets))}}));
}

}  // namespace smd::api
