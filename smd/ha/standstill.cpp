// SPDX-License-Identifier: Apache-2.0
#include "smd/ha/standstill.h"

#include <utility>

namespace smd::sm::inline availability {

Standstill::Standstill(mad::Clock& clock, mad::Duration limit, Found found)
    : clock_(clock), limit_(limit), found_(std::move(found)) {}

Standstill::~Standstill() {
  if (timer_ != 0) clock_.cancel(timer_);
}

void Standstill::start() {
  last_ = clock_.uptime();
  beat();
}

void Standstill::check() {
  if (timer_ == 0) return;
  const auto now = clock_.uptime();
  const auto took = now - last_;
  if (took <= limit_) return;  // last_ stays: only a beat shows that the timers of this process run
  last_ = now;
  ++count_;
  found_(took);
}

void Standstill::beat() {
  if (timer_ != 0) check();
  last_ = clock_.uptime();
  timer_ = clock_.call_at(clock_.now() + limit_ / 4, [this] { beat(); });
}

}  // namespace smd::sm::inline availability
