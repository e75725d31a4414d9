// SPDX-License-Identifier: Apache-2.0
#include "mad/transactions/node_state.h"

#include <algorithm>

namespace smd::mad {

void AnswerTime::measured(Duration sample) {
  sample = std::max(sample, Duration{1});  // zero would mean: not known
  if (!known()) {
    smoothed_ = sample;
    deviation_ = sample / 2;
    return;
  }
  const auto difference = sample > smoothed_ ? sample - smoothed_ : smoothed_ - sample;
  deviation_ += (difference - deviation_) / 4;
  smoothed_ = std::max(smoothed_ + (sample - smoothed_) / 8, Duration{1});
}

Duration AnswerTime::resend(Duration least, Duration most) const {
  return std::clamp(smoothed_ + 4 * deviation_, least, std::max(least, most));
}

void Losses::answered(unsigned lost_before) {
  heard();
  tries_ = tries_ * kMemory + lost_before + 1;
  lost_ = lost_ * kMemory + lost_before;
}

void Losses::lost() {
  tries_ = tries_ * kMemory + 1;
  lost_ = lost_ * kMemory + 1;
}

Window::Window(std::uint32_t floor, std::uint32_t ceiling)
    : floor_(std::clamp(floor, 1U, std::max(ceiling, 1U))),
      ceiling_(std::max(ceiling, 1U)),
      size_(ceiling_) {}

void Window::set_ceiling(std::uint32_t ceiling) {
  ceiling_ = std::max(ceiling, 1U);
  floor_ = std::min(floor_, ceiling_);
  size_ = std::min(size_, ceiling_);
}

void Window::answered() {
  if (size_ >= ceiling_ || ++credit_ < size_) return;
  credit_ = 0;
  ++size_;
}

void Window::lost(TimePoint now, Duration pause) {
  if (last_loss_ != TimePoint::min() && now < last_loss_ + pause) return;
  last_loss_ = now;
  credit_ = 0;
  size_ = std::max(size_ / 2, floor_);
}

void NodeState::hear(const Operation& operation, TimePoint now) {
  last_answer = now;
  const auto row = std::ranges::find(heard, operation, &Heard::operation);
  if (row != heard.end()) row->at = now;
  if (row == heard.end()) heard.push_back({operation, now});
}

TimePoint NodeState::last_heard(const Operation& operation) const {
  const auto row = std::ranges::find(heard, operation, &Heard::operation);
  return row != heard.end() ? row->at : TimePoint::min();
}

}  // namespace smd::mad
