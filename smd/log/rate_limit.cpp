// SPDX-License-Identifier: Apache-2.0
#include "smd/log/rate_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace smd::log {
namespace {

std::string subject_of(const Record& record) {
  if (!record.subject.empty()) return record.subject;
  std::string text;
  for (const auto& field : record.fields) text += fmt::format("{}\n{}\n", field.key, field.value);
  return text;
}

/// The last of the repeated messages, with their number.
Record repeated(Record last, std::uint64_t suppressed) {
  last.fields.push_back({.key = "suppressed", .value = std::to_string(suppressed), .bare = true});
  return last;
}

/// Different messages of one class: none of them stands for the rest.
Record others(const Record& last, std::uint64_t suppressed, const RatePolicy& policy) {
  const auto window = std::chrono::duration_cast<std::chrono::seconds>(policy.window).count();
  return {.level = last.level,
          .event = last.event,
          .subnet = last.subnet,
          .fields = {{.key = "suppressed", .value = std::to_string(suppressed), .bare = true},
                     {.key = "reason",
                      .value = fmt::format("more than {} different ones in {} s", policy.per_class, window)}},
          .subject = {},
          .guids = {}};
}

}  // namespace

bool RateLimiter::admit(const Record& record, Time now) {
  auto& of = classes_[record.subnet + '\n' + record.event];
  auto subject = subject_of(record);
  const auto found = of.entries.find(subject);
  if (found == of.entries.end() && of.entries.size() < policy_.per_class) {
    of.entries.emplace(std::move(subject), Entry{.since = now, .last = {}});
    next_due_ = std::min(next_due_, now + policy_.window);
    return true;
  }
  auto& entry = found == of.entries.end() ? of.others : found->second;
  if (found == of.entries.end() && entry.suppressed == 0) entry.since = now;
  ++entry.suppressed;
  entry.last = record;
  next_due_ = std::min(next_due_, entry.since + policy_.window);
  return false;
}

void RateLimiter::collect(Class& of, Time now, bool all, std::vector<Record>& out) const {
  for (auto it = of.entries.begin(); it != of.entries.end();) {
    auto& entry = it->second;
    const bool over = all || entry.since + policy_.window <= now;
    if (over && entry.suppressed == 0) {
      it = of.entries.erase(it);
      continue;
    }
    if (over) {
      out.push_back(repeated(std::move(entry.last), std::exchange(entry.suppressed, 0)));
      entry.since = now;
    }
    ++it;
  }
  if (of.others.suppressed > 0 && (all || of.others.since + policy_.window <= now)) {
    out.push_back(others(of.others.last, std::exchange(of.others.suppressed, 0), policy_));
  }
}

std::vector<Record> RateLimiter::due(Time now) {
  std::vector<Record> out;
  if (now < next_due_) return out;
  for (auto& [name, of] : classes_) collect(of, now, false, out);
  std::erase_if(classes_, [](const auto& item) {
    return item.second.entries.empty() && item.second.others.suppressed == 0;
  });
  next_due_ = Time::max();
  for (const auto& [name, of] : classes_) {
    for (const auto& [subject, entry] : of.entries)
      next_due_ = std::min(next_due_, entry.since + policy_.window);
    if (of.others.suppressed > 0) next_due_ = std::min(next_due_, of.others.since + policy_.window);
  }
  return out;
}

std::vector<Record> RateLimiter::drain() {
  std::vector<Record> out;
  for (auto& [name, of] : classes_) collect(of, Time{}, true, out);
  classes_.clear();
  next_due_ = Time::max();
  return out;
}

}  // namespace smd::log
