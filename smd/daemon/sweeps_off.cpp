// SPDX-License-Identifier: Apache-2.0
// Sweeps that an operator keeps off for a while: shown as long as it lasts, and ended by whatever makes the
// reason for it doubtful.
#include <fmt/chrono.h>

#include <chrono>
#include <string_view>

#include "smd/daemon/instance.h"

namespace smd::daemon {

void Instance::sweeps_off(std::chrono::system_clock::time_point until) {
  asio::post(io_, [this, until] {
    const auto left = until - std::chrono::system_clock::now();
    if (left <= std::chrono::seconds(0)) return sweeps_on("asked for");
    if (!manager_) return;
    now_.sweeps_off_until = until;
    view_.set(std::make_shared<api::SubnetView>(now_));
    const auto end = clock_.now() + std::chrono::duration_cast<mad::Duration>(left);
    manager_->requests().pause_sweeps(end);
    clock_.cancel(
        std::exchange(sweeps_timer_, clock_.call_at(end, [this] { sweeps_on("the time is over"); })));
    log_.warn("sweep.off")
        .kv("until", fmt::format("{:%FT%TZ}", std::chrono::floor<std::chrono::seconds>(until)))
        .kv("action", "changes of the fabric are not followed; smd sweep on ends it")
        .always();
  });
}

/// Does nothing where they are on.
void Instance::sweeps_on(std::string_view reason) {
  clock_.cancel(std::exchange(sweeps_timer_, 0));
  if (manager_) manager_->requests().pause_sweeps({});
  if (now_.sweeps_off_until == decltype(now_.sweeps_off_until){}) return;
  now_.sweeps_off_until = {};
  view_.set(std::make_shared<api::SubnetView>(now_));
  log_.info("sweep.on").kv("reason", reason).always();
}

}  // namespace smd::daemon
