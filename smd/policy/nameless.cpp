// SPDX-License-Identifier: Apache-2.0
#include "smd/policy/nameless.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "config/kept_names.h"
#include "config/port_set.h"
#include "smd/policy/accepted.h"

namespace smd::policy {
namespace {

using config::PartitionDefinition;
using Ports = std::vector<std::string>;

/// What more partitions have tells none of them from the others.
constexpr std::size_t kMostHolders = 64;

/// One without members is left out, and has no number.
bool has_neither(const PartitionDefinition& one) {
  return one.name.empty() && !one.pkey && !one.members.empty();
}

Ports port_texts(const PartitionDefinition& one) {
  Ports ports;
  for (const auto& rule : one.members) {
    for (const auto& term : rule.ports.terms) ports.push_back(to_string(term));
  }
  std::ranges::sort(ports);
  const auto twice = std::ranges::unique(ports);
  ports.erase(twice.begin(), twice.end());
  return ports;
}

/// The number of each of `now`: of the partition of before that is most like it.
class NumbersByMembers {
 public:
  NumbersByMembers(std::vector<Ports> now, const std::vector<NamelessPartition>& before)
      : now_(std::move(now)), before_(before), numbers_(now_.size()), is_taken_(before.size()) {}

  std::vector<std::optional<std::uint16_t>> find() && {
    take_equal();
    for (const auto& pair : alike()) {
      if (!numbers_[pair.now] && !is_taken_[pair.before]) take(pair.now, pair.before);
    }
    return std::move(numbers_);
  }

 private:
  struct Pair {
    double share;  ///< of the members of both
    std::size_t now, before;
  };

  void take(std::size_t now, std::size_t before) {
    numbers_[now] = before_[before].pkey;
    is_taken_[before] = true;
  }

  void take_equal() {
    std::multimap<Ports, std::size_t> by_ports;
    for (std::size_t i = 0; i < before_.size(); ++i) by_ports.emplace(before_[i].ports, i);
    for (std::size_t i = 0; i < now_.size(); ++i) {
      const auto first = by_ports.lower_bound(now_[i]);  // of equal ones the first that was put in
      if (first == by_ports.end() || first->first != now_[i]) continue;
      take(i, first->second);
      by_ports.erase(first);
    }
  }

  /// Those that share more than half of the members of the smaller one, the most alike first: a server that
  /// is in all partitions makes no two of them the same one.
  std::vector<Pair> alike() const {
    std::map<std::string_view, std::vector<std::size_t>> holders;
    for (std::size_t i = 0; i < before_.size(); ++i) {
      if (is_taken_[i]) continue;
      for (const auto& port : before_[i].ports) holders[port].push_back(i);
    }
    std::vector<Pair> pairs;
    for (std::size_t i = 0; i < now_.size(); ++i) {
      if (numbers_[i]) continue;
      for (const auto& [before, common] : common_with(now_[i], holders)) {
        const auto ours = now_[i].size(), theirs = before_[before].ports.size();
        if (2 * common <= std::min(ours, theirs)) continue;
        const auto share = static_cast<double>(common) / static_cast<double>(ours + theirs - common);
        pairs.push_back({.share = share, .now = i, .before = before});
      }
    }
    std::ranges::sort(pairs, {},
                      [](const Pair& pair) { return std::tuple(-pair.share, pair.now, pair.before); });
    return pairs;
  }

  /// How many ports each of before has in common with these.
  static std::map<std::size_t, std::size_t> common_with(
      const Ports& ports, const std::map<std::string_view, std::vector<std::size_t>>& holders) {
    std::map<std::size_t, std::size_t> common;
    for (const auto& port : ports) {
      const auto of = holders.find(port);
      if (of == holders.end() || of->second.size() > kMostHolders) continue;
      for (const auto before : of->second) ++common[before];
    }
    return common;
  }

  std::vector<Ports> now_;
  const std::vector<NamelessPartition>& before_;
  std::vector<std::optional<std::uint16_t>> numbers_;
  std::vector<bool> is_taken_;
};

}  // namespace

std::vector<NamelessPartition> nameless_partitions(std::span<const PartitionDefinition> definitions,
                                                   const AcceptedPKeys& accepted) {
  std::vector<NamelessPartition> found;
  config::KeptNames names;
  for (const auto& one : definitions) {
    if (!has_neither(one)) continue;
    const auto number = accepted.chosen.find(names.next(config::PolicyOrigin::file, {}));
    if (number != accepted.chosen.end()) found.push_back({.ports = port_texts(one), .pkey = number->second});
  }
  return found;
}

void keep_by_members(std::span<const PartitionDefinition> definitions, AcceptedPKeys& accepted) {
  config::KeptNames before;
  for (std::size_t i = 0; i < accepted.nameless.size(); ++i)
    accepted.chosen.erase(before.next(config::PolicyOrigin::file, {}));
  std::vector<Ports> now;
  for (const auto& one : definitions) {
    if (has_neither(one)) now.push_back(port_texts(one));
  }
  for (const auto& one : accepted.nameless) accepted.given.insert(one.pkey);
  config::KeptNames names;
  for (const auto& number : NumbersByMembers(std::move(now), accepted.nameless).find()) {
    auto kept = names.next(config::PolicyOrigin::file, {});
    if (number) accepted.chosen.emplace(std::move(kept), *number);
  }
}

}  // namespace smd::policy
