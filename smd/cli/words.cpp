// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/words.h"

#include <fmt/format.h>

#include <algorithm>

namespace smd::cli {

std::string counted(std::string_view number, std::string_view one, std::string_view many) {
  if (number == "1") return fmt::format("1 {}", one);
  return many.empty() ? fmt::format("{} {}s", number, one) : fmt::format("{} {}", number, many);
}

std::string with_option(const std::string& refusal, std::span<const OptionOfKey> options) {
  const auto colon = refusal.find(": ");
  if (colon == std::string::npos) return refusal;
  std::string key = refusal.substr(0, colon);
  if (const auto item = key.find('['); item != std::string::npos) key = key.substr(0, item) + "[]";
  const auto option = std::ranges::find(options, std::string_view(key), &OptionOfKey::key);
  return option != options.end() ? std::string(option->option) + refusal.substr(colon) : refusal;
}

std::string not_empty(const std::string& value) {
  return value.empty() ? "it is empty: give a GUID, LID or name" : "";
}

}  // namespace smd::cli
