// SPDX-License-Identifier: Apache-2.0
// What load balancers ask: names nothing of the fabric, needs no token.
#include "smd/api/handlers.h"
#include "smd/api/json_out.h"
#include "smd/api/listing.h"
#include "smd/replica/view.h"

namespace smd::api {

using sm::Json;
using sm::JsonObject;

namespace {

bool is_master(const SubnetView& view) { return is_running(view) && sm_state(view) == wire::SmState::master; }

bool is_current_standby(const SubnetView& view) {
  return is_running(view) && sm_state(view) == wire::SmState::standby && view.replica &&
         view.replica->role == replica::ReplicaView::Role::current;
}

}  // namespace

Answer get_healthz(const Question&, Backend&) { return answer_of(Json(JsonObject{{"alive", Json(true)}})); }

Answer get_readyz(const Question& question, Backend& backend) {
  const auto role = question.query.find("role");
  const bool standby = role != question.query.end() && role->second == "standby";
  if (role != question.query.end() && !standby && role->second != "master")
    return bad_query("role", role->second, "master or standby");
  const auto subnet = question.query.find("subnet");
  bool ready = true, found = false;
  for (const auto& view : backend.subnets()) {
    if (subnet != question.query.end() && view->name != subnet->second) continue;
    found = true;
    ready = ready && (standby ? is_current_standby(*view) : is_master(*view));
  }
  ready = ready && found;
  auto answer =
      answer_of(Json(JsonObject{{"ready", Json(ready)}, {"role", text(standby ? "standby" : "master")}}),
                ready ? 200 : 503);
  if (!ready) answer.headers.emplace_back("Retry-After", "1");
  return answer;
}

}  // namespace smd::api
