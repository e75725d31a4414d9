// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a reload changes.

#include <string>
#include <vector>

#include "config/config.h"

namespace smd::config {

/// Keys of which the values differ, as `lids.lmc 0 -> 1`, in the order of the shipped file. What a key's file
/// holds counts: `sm.key_file` alone says that the key in it is another one.
std::vector<std::string> differences(const LogConfig& before, const LogConfig& after);
std::vector<std::string> differences(const ApiConfig& before, const ApiConfig& after);
std::vector<std::string> differences(const StoreConfig& before, const StoreConfig& after);
std::vector<std::string> differences(const SubnetConfig& before, const SubnetConfig& after);

}  // namespace smd::config
