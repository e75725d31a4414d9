// SPDX-License-Identifier: Apache-2.0
#include "smd/schedule/patient_group.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace smd::sm::inline scheduling {

void PatientGroup::spawn(asio::awaitable<void> task) {
  ++open_;
  tasks_.spawn(counted(std::move(task)));
}

asio::awaitable<void> PatientGroup::counted(asio::awaitable<void> task) {
  co_await std::move(task);
  if (--open_ == 0) scheduler_.agenda().wake();
}

asio::awaitable<void> PatientGroup::finish() {
  constexpr auto kPatience = std::chrono::milliseconds(50);
  auto& clock = scheduler_.clock();
  auto& agenda = scheduler_.agenda();
  const auto earliest = clock.now() + kPatience;
  while (open_ != 0) {
    const auto wake = std::max(earliest, scheduler_.sweep_due().value_or(mad::TimePoint::max()));
    if (wake <= clock.now()) break;
    mad::Clock::TimerId timer = 0;
    if (wake != mad::TimePoint::max()) timer = clock.call_at(wake, [&agenda] { agenda.wake(); });
    const bool woken = co_await agenda.changed();
    clock.cancel(timer);
    if (!woken) break;
  }
  co_await tasks_.stop();
}

}  // namespace smd::sm::inline scheduling
