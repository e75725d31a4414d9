// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bodies and lists of UFM's calls on partitions, as values.

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/partition_definition.h"
#include "smd/api/request.h"

namespace smd::api {

/// What the body of a call says.
struct UfmWanted {
  PKey pkey{};
  std::optional<std::string> name{};             ///< partition_name
  std::optional<config::MemberRules> members{};  ///< guids
  std::optional<bool> ipoib{};
  std::optional<Mtu> mtu{};
  std::optional<std::uint8_t> rate{};
  std::optional<Sl> sl{};
};

/// The body of a call with a P_Key. Error: status 400.
std::expected<UfmWanted, Answer> ufm_wanted(std::string_view body);
/// The same of a call with `hosts_names`, which are the members: names of single nodes.
std::expected<UfmWanted, Answer> ufm_wanted_hosts(std::string_view body);

/// 20 digits or fewer, with or without "0x".
std::optional<Guid> ufm_guid(std::string_view text);
/// The items between commas, without blanks around them and without empty ones.
std::vector<std::string> ufm_list(std::string_view list);

}  // namespace smd::api
