// SPDX-License-Identifier: Apache-2.0
#include "config/refused_policy.h"

#include <utility>

namespace smd::config {

void forget_qos_policy(QosConfig& qos, std::string why) {
  qos.policy_file.clear();
  qos.conf = {};
  qos.level.clear();
  qos.rule.clear();
  qos.ulp.clear();
  qos.preset = QosPreset::none;
  qos.traffic_classes.clear();
  qos.refused = std::move(why);
}

void forget_partitions(SubnetConfig& subnet, std::string why) {
  subnet.groups.clear();
  subnet.partition.clear();
  subnet.partitions = {};
  subnet.partitions.refused = std::move(why);
}

}  // namespace smd::config
