// SPDX-License-Identifier: Apache-2.0
#include "mad/transactions/counters.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace smd::mad {
namespace {

auto order(const AttributeCounters& row) { return std::tuple(row.mgmt_class, row.attribute, row.method); }

void subtract(AttributeCounters& row, const AttributeCounters& before) {
  for (const auto member :
       {&AttributeCounters::requests, &AttributeCounters::sent, &AttributeCounters::answered,
        &AttributeCounters::retries, &AttributeCounters::timeouts, &AttributeCounters::unanswered,
        &AttributeCounters::refused, &AttributeCounters::busy, &AttributeCounters::late,
        &AttributeCounters::duplicate}) {
    row.*member -= before.*member;
  }
}

}  // namespace

std::uint64_t Counters::total(std::uint64_t AttributeCounters::* counter, wire::Method method) const {
  std::uint64_t sum = 0;
  for (const auto& row : by_attribute) sum += row.method == method ? row.*counter : 0;
  return sum;
}

std::uint64_t Counters::total(std::uint64_t AttributeCounters::* counter) const {
  std::uint64_t sum = 0;
  for (const auto& row : by_attribute) sum += row.*counter;
  return sum;
}

Counters operator-(const Counters& now, const Counters& before) {
  Counters difference = now;
  for (auto& row : difference.by_attribute) {
    const auto old = std::ranges::lower_bound(before.by_attribute, order(row), {}, order);
    if (old != before.by_attribute.end() && order(*old) == order(row)) subtract(row, *old);
  }
  for (const auto member :
       {&Counters::unsolicited, &Counters::unsolicited_dropped, &Counters::unknown, &Counters::mismatched,
        &Counters::malformed, &Counters::send_failed, &Counters::replies}) {
    difference.*member -= before.*member;
  }
  return difference;
}

std::uint32_t AttributeTable::row(const wire::Mad& request) {
  const auto mgmt_class = wire::attributes_of(request.mgmt_class());
  const auto key = std::uint32_t{std::to_underlying(mgmt_class)} << 24U |
                   std::uint32_t{request.attribute()} << 8U | std::to_underlying(request.method());
  const auto [found, added] = index_.try_emplace(key, static_cast<std::uint32_t>(rows_.size()));
  if (added)
    rows_.push_back({.attribute = request.attribute(), .method = request.method(), .mgmt_class = mgmt_class});
  return found->second;
}

std::vector<AttributeCounters> AttributeTable::sorted() const {
  auto rows = rows_;
  std::ranges::sort(rows, {}, order);
  return rows;
}

}  // namespace smd::mad
