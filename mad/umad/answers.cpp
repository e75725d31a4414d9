// SPDX-License-Identifier: Apache-2.0
#include "mad/umad/answers.h"

namespace smd::umad {

bool AnswersUnderWay::has_room(Lid lid, std::size_t bytes) const {
  if (bytes_ + bytes > kBytes || under_way_.size() >= kAnswers) return false;
  const auto of_lid = of_lid_.find(lid);
  return of_lid == of_lid_.end() || of_lid->second + bytes <= kBytesOfOneLid;
}

void AnswersUnderWay::begin(const Key& key, std::size_t bytes) {
  end(key);
  under_way_.emplace(key, bytes);
  bytes_ += bytes;
  of_lid_[key.lid] += bytes;
}

void AnswersUnderWay::end(const Key& key) {
  const auto found = under_way_.find(key);
  if (found == under_way_.end()) return;
  bytes_ -= found->second;
  const auto of_lid = of_lid_.find(key.lid);
  of_lid->second -= found->second;
  if (of_lid->second == 0) of_lid_.erase(of_lid);
  under_way_.erase(found);
}

}  // namespace smd::umad
