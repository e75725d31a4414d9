// SPDX-License-Identifier: Apache-2.0
// Where a key stands in the file: checks of the whole know the line of its block only.
#include <algorithm>
#include <charconv>
#include <string_view>

#include "config/loader.h"

namespace smd::config {
namespace {

/// The item of a list with this index, or of a table with this key; null where there is none.
const Value* item_of(const Value& value, std::string_view step) {
  if (value.kind == Value::Kind::list) {
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
    return error == std::errc{} && index < value.items.size() ? &value.items[index] : nullptr;
  }
  const auto at = std::ranges::find(value.items, step, &Value::key);
  return at != value.items.end() ? &*at : nullptr;
}

/// What "qos.rule[0].source[1]" names, or the innermost of it that there is.
const Value& deepest(const Value& root, std::string_view key) {
  const auto* value = &root;
  while (!key.empty()) {
    const auto end = std::min(key.find_first_of(".["), key.size());
    auto step = key.substr(0, end);
    key.remove_prefix(std::min(end + 1, key.size()));
    if (step.ends_with(']')) step.remove_suffix(1);
    if (step.empty()) continue;  // between "]" and "."
    const auto* next = item_of(*value, step);
    if (next == nullptr) return *value;
    value = next;
  }
  return *value;
}

}  // namespace

void Loader::put_at_its_place(const Layer& layer, ConfigError& error) const {
  if (root_ == nullptr || error.file != file_.string()) return;
  const std::string_view key = error.key;
  const auto path = key.substr(0, key.find('['));
  const auto at = layer.places.find(path);
  if (at == layer.places.end() || at->second.file != error.file) return;
  error.key = at->second.key + std::string(key.substr(path.size()));
  error.line = deepest(*root_, error.key).line;
}

}  // namespace smd::config
