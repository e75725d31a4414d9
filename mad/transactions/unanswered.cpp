// SPDX-License-Identifier: Apache-2.0
#include "mad/transactions/unanswered.h"

#include <algorithm>

namespace smd::mad {

void Unanswered::begin_round() {
  on_ = true;
  nodes_.clear();
  places_.clear();
}

void Unanswered::failed(Guid node, const Question& question, const Failure& how, bool silent,
                        bool whole_attribute) {
  if (!on_) return;
  auto& entry = nodes_[node];
  if (silent && std::ranges::find(entry.silent, question.route) == entry.silent.end())
    entry.silent.push_back(question.route);
  const auto same = [&](const Row& row) { return row.rules_out(question); };
  if (std::ranges::none_of(entry.rows, same)) entry.rows.push_back({question, silent, whole_attribute, how});
}

void Unanswered::failed(std::uint64_t place) {
  if (on_ && place != 0) places_.insert(place);
}

void Unanswered::answered(Guid node) {
  if (nodes_.empty()) return;
  if (const auto found = nodes_.find(node); found != nodes_.end()) found->second.silent.clear();
}

void Unanswered::answered(Guid node, const Operation& operation) {
  if (nodes_.empty()) return;
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return;
  found->second.silent.clear();
  for (auto& row : found->second.rows) {
    if (row.question.operation == operation) row.whole_attribute = false;
  }
}

std::optional<Unanswered::Failure> Unanswered::find(Guid node, std::uint64_t place,
                                                    const Question& question) const {
  if (place != 0 && places_.contains(place)) return Failure{};
  if (nodes_.empty()) return std::nullopt;
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return std::nullopt;
  for (const auto& row : found->second.rows) {
    if (row.rules_out(question)) return row.how;
  }
  const auto& silent = found->second.silent;
  return std::ranges::find(silent, question.route) != silent.end() ? std::optional(Failure{}) : std::nullopt;
}

}  // namespace smd::mad
