// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a reload changes.

#include <string>
#include <vector>

#include "config/config.h"
#include "config/load.h"

namespace smd::config {

/// Keys whose values differ, as `lids.lmc 0 -> 1`, in the order of the shipped file. Changed contents of a
/// file that a key names count too. Values longer than 60 characters are cut.
std::vector<std::string> differences(const LogConfig& before, const LogConfig& after);
/// The same of [api].
std::vector<std::string> differences(const ApiConfig& before, const ApiConfig& after);
/// The same of [store].
std::vector<std::string> differences(const StoreConfig& before, const StoreConfig& after);
/// The same of a subnet. Arrays of tables are compared block by block. Where the policy of `before` was
/// refused one sentence says that this one is in force now.
std::vector<std::string> differences(const SubnetConfig& before, const SubnetConfig& after,
                                     const Schema& schema = product_schema());

/// One subnet's differences, and its name.
struct SubnetDifferences {
  std::string subnet{};
  std::vector<std::string> items{};
};
/// Those of all subnets as one list, each once: one that not all of them have begins with the name of its
/// subnet.
std::vector<std::string> united(const std::vector<SubnetDifferences>& subnets);

/// What a reload brings into force: `next`, but with the values of `now` of keys that count at the start
/// alone: routing.threads, and those of [ha] by which the state is copied, with the contents of psk_file.
SubnetConfig reloadable(const SubnetConfig& now, SubnetConfig next);

}  // namespace smd::config
