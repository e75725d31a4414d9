// SPDX-License-Identifier: Apache-2.0
#pragma once
// The rules of a partition of the API while a change is made to them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "config/partition_definition.h"

namespace smd::policy {

/// Places by the ports that a rule names. Lists of many GUIDs take little memory.
class PlacesOfPorts {
 public:
  /// `place`, unless these ports have one: then that. True where they had none.
  std::pair<std::size_t*, bool> emplace(const config::PortSet& ports, std::size_t place);
  bool contains(const config::PortSet& ports) const;
  bool empty() const { return by_guid_.empty() && by_text_.empty(); }

 private:
  using Guids = std::pair<Guid, Guid>;  ///< of a range; the second one of a single GUID is 0
  /// Null: it is neither a GUID nor a range of them.
  static const config::PortTerm* guids_of(const config::PortSet& ports);
  static Guids key_of(const config::PortTerm& term);

  // No hash tables: who sends GUIDs chooses their hashes.
  std::map<Guids, std::size_t> by_guid_{};
  std::map<std::string, std::size_t> by_text_{};
};

/// Each term once. Later rules override earlier ones: what is put again goes to the end, unless that changes
/// nothing, because the same rule is there and none after it can be about one of its ports.
class RuleList {
 public:
  /// `rules` as the store has them: in order, each term once.
  explicit RuleList(config::MemberRules rules);

  /// Adds the rule at the end, and removes the one of the same ports, if any. Logarithmic.
  void put(const config::MemberRule& rule);
  /// The rules in order; the list is used up.
  config::MemberRules take() &&;

 private:
  /// Rules of other words within one kind are never about one port; those of two kinds may be, and patterns,
  /// groups and the like may be about any.
  enum class Kind : std::uint8_t { guid, node, node_port, any };
  static constexpr std::size_t kKinds = 4;

  static Kind kind_of(const config::MemberRule& rule);
  bool is_overridden(Kind kind, std::size_t place) const;

  config::MemberRules rules_;
  std::vector<bool> gone_;
  bool any_gone_ = false;
  PlacesOfPorts places_{};
  std::array<std::size_t, kKinds> ends_{};  ///< by kind: the last place of one, and 1
};

}  // namespace smd::policy
