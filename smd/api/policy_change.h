// SPDX-License-Identifier: Apache-2.0
#pragma once
// Changes of what the API has made, which are kept before they are answered.

#include <expected>
#include <functional>
#include <optional>

#include "smd/api/handlers.h"

namespace smd::api {

/// What is to be, and what is answered once it is kept.
struct Step {
  PolicyChange change;  ///< without `before`
  Answer done;
  bool changes = true;  ///< false: it is so already
};
/// Of a view whose policy_state is not null; pure, may be called several times.
using MakeStep = std::function<std::expected<Step, Answer>(const SubnetView& view)>;
/// Why nothing can be changed in this subnet now.
using Hindrance = std::optional<Answer> (*)(const SubnetView& view);

/// The store is not open yet, or there is no port: 503.
std::optional<Answer> store_hindrance(const SubnetView& view);

/// Asks `backend` to keep the change that `make` makes of the current policies of the question's subnet, and
/// answers with its Step::done. Another change that came first: once more with the policies after it. Nothing
/// is changed where `hindrance` or `make` answers, by which then is answered, or where Step::changes is
/// false. 503: it cannot be kept, or not within 10 s, or this SM is not master any more. Blocks; not for the
/// io_context's thread.
Answer change_policies(const Question& question, Backend& backend, Hindrance hindrance, const MakeStep& make);

/// [ha] mode is "sync-strict" and no standby takes what is committed: 503, also where nothing is to be
/// changed any more.
std::optional<Answer> waits_for_standby(const SubnetView& view);

}  // namespace smd::api
