// SPDX-License-Identifier: Apache-2.0
// Quality of service: what becomes of each SL in use.
#include <utility>

#include "smd/api/handlers.h"
#include "smd/api/json_out.h"
#include "smd/report/qos_explanation.h"

namespace smd::api {

Answer get_qos(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto& view = *chosen->view;
  sm::QosExplanation found;
  if (view.snapshot) {
    const auto* ground = view.ground.get();
    found = sm::explain_qos({.subnet = *view.snapshot->subnet,
                             .decided = view.snapshot->decided,
                             .partitions = ground != nullptr ? ground->merged.get() : nullptr,
                             .refused = ground != nullptr ? ground->config->qos.refused : std::string{}});
  }
  auto json = sm::qos_json(found);
  json.as_object().emplace("subnet", text(view.name));
  return answer_of(json);
}

}  // namespace smd::api
