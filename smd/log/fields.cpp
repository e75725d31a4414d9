// SPDX-License-Identifier: Apache-2.0
#include "smd/log/fields.h"

#include <algorithm>

namespace smd::log {

const std::string* value_of(const std::vector<Field>& fields, std::string_view key) {
  const auto at = std::ranges::find(fields, key, &Field::key);
  return at != fields.end() ? &at->value : nullptr;
}

}  // namespace smd::log
