// SPDX-License-Identifier: Apache-2.0
#include "smd/api/answer_once.h"

#include <string_view>
#include <utility>

#include "smd/api/handlers.h"
#include "smd/api/policy_change.h"

namespace smd::api {
namespace {

/// What a change of partitions was answered before, by this SM or one before it.
std::optional<Answer> kept_answer(const Question& question, const Once& once, const Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen || !chosen->view->policy_state) return std::nullopt;
  auto before = answered_before(chosen->view->policy_state->policies->answers, once, question.request->time);
  if (!before || before->status / 100 != 2) return before;
  return waits_for_standby(*chosen->view).value_or(*std::move(before));
}

}  // namespace

Answer answer_once(const Route& route, Question& question, bool for_master, Backend& backend,
                   const std::function<Answer()>& answer_now) {
  const auto& request = *question.request;
  const bool has_key = route.method == "POST" && !request.idempotency_key.empty();
  if (!has_key || route.needs == Needs::local) return answer_now();
  const auto path = std::string_view(request.target).substr(0, request.target.find('?'));
  const auto once = once_of(request, question.access->name(), path);
  if (!once) return once.error();
  if (auto kept = kept_answer(question, *once, backend)) return *std::move(kept);
  auto& answered = backend.answered();
  auto before = for_master ? answered.find(*once, request.time) : answered.begin(*once, request.time);
  if (before) return *std::move(before);
  question.once = &*once;
  auto made = answer_now();
  question.once = nullptr;
  if (!for_master) answered.end(*once, made, request.time);
  return made;
}

}  // namespace smd::api
