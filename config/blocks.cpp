// SPDX-License-Identifier: Apache-2.0
#include "config/blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "config/suggest.h"
#include "config/toml_reader.h"

namespace smd::config {
namespace {

std::vector<std::string> names_of(const std::vector<BlockKeyDoc>& keys) {
  std::vector<std::string> names;
  for (const auto& key : keys) names.emplace_back(key.name);
  return names;
}

/// What a key that there is not stands for: one that OpenSM calls so, or the nearest; nothing where none is.
std::optional<std::string> meant_by(const std::string& name, const std::vector<BlockKeyDoc>& keys) {
  const auto opensm =
      std::ranges::find_if(keys, [&](const BlockKeyDoc& key) { return !name.empty() && key.opensm == name; });
  return opensm != keys.end() ? std::string(opensm->name) : nearest(name, names_of(keys));
}

/// A slip of the finger, a key of OpenSM's, or else all keys that there are.
std::string hint_for(const std::string& name, const std::vector<BlockKeyDoc>& keys) {
  const auto opensm =
      std::ranges::find_if(keys, [&](const BlockKeyDoc& key) { return !name.empty() && key.opensm == name; });
  if (opensm != keys.end()) return fmt::format("OpenSM's {} is \"{}\" here", name, opensm->name);
  const auto names = names_of(keys);
  auto hint = did_you_mean(name, names);
  return hint.empty() ? fmt::format("its keys are {}", fmt::join(names, ", ")) : hint;
}

}  // namespace

void UniqueValues::add(std::string_view key, const std::string& shown, const Value& value, const Spot& at) {
  const auto [earlier, fresh] = lines_.emplace(std::pair(std::string(key), shown), value.line);
  if (fresh) return;
  const auto block = std::string_view(at.key).substr(0, at.key.rfind('['));
  at.wrong(value, fmt::format("one that no other {} has; line {} has it already", block_heading(block),
                              earlier->second));
}

std::string block_heading(std::string_view key) {
  std::string path;
  bool in_index = false;
  for (const char c : key) {
    in_index = in_index || c == '[';
    if (!in_index) path += c;
    in_index = in_index && c != ']';
  }
  return fmt::format("[[{}]]", path);
}

bool is_block_list(const Value& value, const Spot& at, std::string_view short_allowed) {
  if (value.kind == Value::Kind::list) return true;
  const auto heading = block_heading(at.key);
  const auto in_one_line =
      short_allowed.empty() || value.is_table() ? "" : fmt::format("a list of {}, or ", short_allowed);
  at.wrong(value, fmt::format("{}one or more blocks, each beginning with {}", in_one_line, heading));
  return false;
}

void check_block_keys(const Value& table, const Spot& at, const std::vector<BlockKeyDoc>& keys) {
  const auto heading = block_heading(at.key);
  std::set<std::string, std::less<>> meant;  // and not missing, too
  for (const auto& item : table.items) {
    if (std::ranges::find(keys, item.key, &BlockKeyDoc::name) != keys.end()) continue;
    if (auto key = meant_by(item.key, keys)) meant.insert(*std::move(key));
    at.errors.push_back({.file = at.file,
                         .line = item.key_line,
                         .key = at.key,
                         .expected = fmt::format("unknown key \"{}\" in {}", printable(item.key), heading),
                         .hint = hint_for(item.key, keys)});
  }
  for (const auto& key : keys) {
    const bool there = std::ranges::find(table.items, key.name, &Value::key) != table.items.end();
    if (key.required && !there && !meant.contains(key.name) && at.all_was_read)
      at.refuse(table, fmt::format("the key \"{}\" is missing: {}", key.name, key.allowed));
  }
}

void refuse_item(const Value& item, const Spot& at) {
  at.wrong(item, fmt::format("a block that begins with {}", block_heading(at.key)));
}

std::string show_inline(const std::vector<ShownBlock>& blocks) {
  std::string out;
  for (const auto& block : blocks) {
    std::string keys;
    for (const auto& key : block.keys)
      keys += fmt::format("{}{} = {}", keys.empty() ? "" : ", ", key.name, key.value);
    out += fmt::format("{}{{{}}}", out.empty() ? "" : ", ", keys);
  }
  return fmt::format("[{}]", out);
}

}  // namespace smd::config
