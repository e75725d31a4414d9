// SPDX-License-Identifier: Apache-2.0
#include "smd/policy/accepted_m_keys.h"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>
#include <string>

#include "config/scalars.h"
#include "smd/base/m_keys.h"
#include "smd/policy/json_values.h"

namespace smd::policy {
namespace {

namespace json = boost::json;

/// Empty without a key.
std::string mark_of(const config::KeysConfig& keys) {
  return keys.m_key ? fmt::format("{:016x}", sm::derived_m_key(*keys.m_key, Guid{})) : std::string{};
}

}  // namespace

json::object m_keys_json(const config::KeysConfig& keys) {
  return {{"mark", mark_of(keys)},
          {"level", keys.m_key_level},
          {"lease_s", std::chrono::duration_cast<std::chrono::seconds>(keys.m_key_lease).count()},
          {"per_port", keys.m_key_per_port}};
}

void add_m_key_differences(const json::value& theirs, const json::value& ours, AcceptedDifferences& into) {
  if (!theirs.is_object() || !ours.is_object()) return;
  const auto& was = theirs.get_object();
  const auto& is = ours.get_object();
  const auto at = [](const json::object& of, std::string_view key) {
    const auto* value = of.if_contains(key);
    return value != nullptr ? *value : json::value();
  };
  if (at(was, "mark") != at(is, "mark")) return into.keys.emplace_back("keys.m_key_file"), void();
  if (at(was, "mark") == "") return;  // neither has keys
  for (const auto& [key, name] : {std::pair("level", "keys.m_key_level"),
                                  {"lease_s", "keys.m_key_lease"},
                                  {"per_port", "keys.m_key_per_port"}}) {
    const auto before = at(was, key), now = at(is, key);
    if (before == now) continue;
    into.keys.emplace_back(name);
    into.values.push_back(fmt::format("{} {} -> {}", name, json::serialize(before), json::serialize(now)));
  }
}

void restore_m_keys(const json::value& from, config::KeysConfig& into) {
  const auto secret = into.m_key;
  const bool per_port = into.m_key_per_port;
  if (text_at(from, "mark") != mark_of(into)) {
    into.m_key.reset();
  } else {
    into.m_key_level = number_at<std::uint8_t>(from, "level", 3);
    into.m_key_lease = std::chrono::seconds(number_at<std::uint16_t>(from, "lease_s", 0xffff));
    into.m_key_per_port = from.at("per_port").as_bool();
  }
  if (!secret || (into.m_key && into.m_key_per_port == per_port)) return;
  into.former_m_key = secret;
  into.former_per_port = per_port;
}

}  // namespace smd::policy
