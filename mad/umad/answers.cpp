// SPDX-License-Identifier: Apache-2.0
#include "mad/umad/answers.h"

namespace smd::umad {

bool AnswersUnderWay::has_room(Lid lid, std::size_t bytes) const {
  if (bytes_ + bytes > kBytes) return false;
  if (!is_long(bytes)) return under_way_.size() - long_ < kShortAnswers;
  const auto of_lid = of_lid_.find(lid);
  return long_ < kAnswers && (of_lid == of_lid_.end() || of_lid->second < kOfOneLid);
}

void AnswersUnderWay::begin(const Key& key, std::size_t bytes) {
  end(key);
  under_way_.emplace(key, bytes);
  bytes_ += bytes;
  if (!is_long(bytes)) return;
  ++long_;
  ++of_lid_[key.lid];
}

void AnswersUnderWay::end(const Key& key) {
  const auto found = under_way_.find(key);
  if (found == under_way_.end()) return;
  bytes_ -= found->second;
  if (is_long(found->second)) {
    --long_;
    if (const auto of_lid = of_lid_.find(key.lid); --of_lid->second == 0) of_lid_.erase(of_lid);
  }
  under_way_.erase(found);
}

}  // namespace smd::umad
