// SPDX-License-Identifier: Apache-2.0
#pragma once
// The blocks of qos-policy.conf, key by key: port-group, qos-level, qos-match-rule, and the two scopes of
// qos-setup.

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "config/import/qos_conf_values.h"
#include "config/qos_policy.h"

namespace smd::config {

/// What a block of the file is.
enum class QosBlock : std::uint8_t { none, group, level, rule, vlarb_scope, sl2vl_scope };

/// The block in hand: its keys are read one by one, then it is added to the policy.
class QosConfItems {
 public:
  QosConfItems(ConfNotes& notes, QosPolicy& policy) : notes_(notes), policy_(policy) {}

  /// A block begins at notes.line().
  void begin(QosBlock block);
  /// A key and its value; an unknown key is an error.
  void set(std::string_view key, std::string_view text);
  /// A line with this key is wrong: the block does not lack it, too.
  void note_wrong(std::string_view key) { wrong_.emplace(key); }
  /// The block ends: what is missing is an error.
  void end();
  /// What keys the block may have.
  static std::span<const std::string_view> keys_of(QosBlock block);

 private:
  bool once(const QosValue& value);
  bool given(std::string_view key) const { return lines_.contains(key) || wrong_.contains(key); }
  void set_group(const QosValue& value);
  void add_node_types(const QosValue& value);
  void set_level(const QosValue& value);
  void set_limit(const QosValue& value);
  void set_rule(const QosValue& value);
  void check_vlarb(const QosValue& value);
  void check_sl2vl(const QosValue& value);
  void check_sl2vl_table(const QosValue& value);
  void missing(std::string_view what);
  QosSource source() const { return {.origin = PolicyOrigin::file, .line = begin_}; }

  ConfNotes& notes_;
  QosPolicy& policy_;
  QosBlock block_ = QosBlock::none;
  unsigned begin_ = 0;
  std::map<std::string, unsigned, std::less<>> lines_{};  ///< of the keys of this block
  std::set<std::string, std::less<>> wrong_{};            ///< keys that it should have had
  QosGroup group_{};
  QosLevel level_{};
  QosRule rule_{};
};

}  // namespace smd::config
