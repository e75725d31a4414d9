// SPDX-License-Identifier: Apache-2.0
#pragma once
// OpenSM's qos-policy.conf, as opensm 3.3.24 reads it (doc/QoS_management_in_OpenSM.txt; what that leaves
// open was read in osm_qos_parser_y.y and osm_qos_policy.c). docs/qos.md lists where smd differs.

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "config/error.h"
#include "config/qos_policy.h"

namespace smd::config {

struct QosPolicyConf {
  QosPolicy policy{};
  /// What opensm ignores or changes without a word. Each names file and line.
  std::vector<ConfigError> warnings{};
  friend bool operator==(const QosPolicyConf&, const QosPolicyConf&) = default;
};

/// Reads the whole file or refuses it: one error for each wrong line, 50 at most. `file` is its name in
/// errors.
std::expected<QosPolicyConf, std::vector<ConfigError>> read_qos_policy_conf(std::string_view text,
                                                                            const std::string& file);

}  // namespace smd::config
