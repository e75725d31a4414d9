// SPDX-License-Identifier: Apache-2.0
#pragma once
// Configurations with partitions.

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace smd::test {

/// Members of a set as smd.toml has them.
inline std::vector<config::PortTerm> port_terms(std::initializer_list<std::string_view> texts) {
  std::vector<config::PortTerm> terms;
  for (const auto text : texts) {
    auto term = config::parse_port_term(text);
    if (!term) throw std::runtime_error(std::string(text));
    terms.push_back(*std::move(term));
  }
  return terms;
}

/// A [[partition]] block.
inline config::ConfiguredPartition partition(std::string name, std::uint16_t pkey,
                                             std::initializer_list<std::string_view> full,
                                             std::initializer_list<std::string_view> limited = {}) {
  config::ConfiguredPartition made;
  made.name = std::move(name);
  made.pkey = pkey;
  made.full = port_terms(full);
  made.limited = port_terms(limited);
  return made;
}

inline config::SubnetConfig with_partitions(std::vector<config::ConfiguredPartition> partitions) {
  config::SubnetConfig config;
  config.partition = std::move(partitions);
  return config;
}

}  // namespace smd::test
