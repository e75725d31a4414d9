// SPDX-License-Identifier: Apache-2.0
#include "config/describe_blocks.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/describe.h"

namespace smd::config {
namespace {

constexpr std::size_t kMostDifferences = 20;

std::string count_of(std::size_t count) {
  if (count == 0) return "none";
  return fmt::format("{} block{}", count, count == 1 ? "" : "s");
}

/// "[0] prefix = "fec0::" (…), router = "*""
std::string describe_block(std::size_t index, const ShownBlock& block) {
  std::string keys;
  for (const auto& key : block.keys) {
    keys += fmt::format("{} {} = {}", keys.empty() ? "" : ",", key.name, shortened(key.value));
    if (!key.meaning.empty()) keys += fmt::format(" ({})", key.meaning);
  }
  return fmt::format("    [{}]{}\n", index, keys.empty() ? " all keys have their defaults" : keys);
}

/// The value of a key of a block; the default where the block does not show it.
std::string value_of(const ShownBlock& block, const BlockKeyDoc& key) {
  const auto at = std::ranges::find(block.keys, key.name, &ShownBlock::KeyValue::name);
  return at == block.keys.end() ? key.value : at->value;
}

void add_key_differences(const Key& array, const std::string& place, const ShownBlock& before,
                         const ShownBlock& after, std::vector<std::string>& into) {
  for (const auto& key : array.block_keys) {
    const auto was = value_of(before, key);
    const auto is = value_of(after, key);
    if (was != is)
      into.push_back(fmt::format("{}.{} {} -> {}", place, key.name, shortened(was), shortened(is)));
  }
}

const ShownBlock* find_label(const std::vector<ShownBlock>& blocks, const std::string& label) {
  const auto at = std::ranges::find(blocks, label, &ShownBlock::label);
  return at == blocks.end() ? nullptr : &*at;
}

/// The label of a block as logs and clients of the API may see it: the path of a URL may be a secret.
std::string without_path(const std::string& label) {
  const auto host = label.find("://");
  const auto path = host == std::string::npos ? host : label.find('/', host + 3);
  if (path == std::string::npos || path + 1 >= label.size()) return label;
  return label.substr(0, path) + "/..." + (label.ends_with('"') ? "\"" : "");
}

std::vector<std::string> differences_by_label(const Key& array, const std::vector<ShownBlock>& before,
                                              const std::vector<ShownBlock>& after) {
  std::vector<std::string> found;
  const auto place_of = [&](const std::string& label) {
    return fmt::format("{}[{}]", array.path(), without_path(label));
  };
  for (const auto& block : after) {
    const auto* old = find_label(before, block.label);
    if (old == nullptr) {
      found.push_back(place_of(block.label) + " added");
    } else {
      add_key_differences(array, place_of(block.label), *old, block, found);
    }
  }
  for (const auto& block : before) {
    if (find_label(after, block.label) == nullptr) found.push_back(place_of(block.label) + " removed");
  }
  if (found.empty() && !std::ranges::equal(before, after, {}, &ShownBlock::label, &ShownBlock::label))
    found.push_back(array.path() + " in another order");
  return found;
}

std::vector<std::string> differences_by_index(const Key& array, const std::vector<ShownBlock>& before,
                                              const std::vector<ShownBlock>& after) {
  std::vector<std::string> found;
  if (before.size() != after.size())
    return {fmt::format("{} {} -> {}", array.path(), count_of(before.size()), count_of(after.size()))};
  for (std::size_t i = 0; i < before.size(); ++i)
    add_key_differences(array, fmt::format("{}[{}]", array.path(), i), before[i], after[i], found);
  return found;
}

}  // namespace

bool replaces_blocks(const Key& array, const Settings& settings, const Settings& base) {
  return array.show(settings) != array.show(base);
}

std::string describe_blocks(const Key& array, const Settings& settings, const Settings& base,
                            std::size_t most) {
  const auto blocks = array.show_blocks(settings);
  const auto outside = array.show_blocks(base).size();
  auto line = fmt::format("{} {}", heading(array), count_of(blocks.size()));
  if (outside > 0 && replaces_blocks(array, settings, base)) {
    line += fmt::format(", which replace{} {} outside of [[subnet]]", blocks.size() > 1 ? "" : "s",
                        outside == 1 ? "the one" : fmt::format("all {}", outside));
  }
  const auto meaning = array.explain ? array.explain(settings) : std::string();
  if (!meaning.empty()) line += ": " + meaning;
  auto out = fmt::format("{}{}\n", line, blocks.empty() ? "" : " (default none)");
  for (std::size_t i = 0; i < std::min(most, blocks.size()); ++i) out += describe_block(i, blocks[i]);
  if (blocks.size() > most) out += fmt::format("    and {} more\n", blocks.size() - most);
  return out;
}

std::vector<std::string> block_differences(const Key& array, const Settings& before, const Settings& after) {
  const auto was = array.show_blocks(before);
  const auto is = array.show_blocks(after);
  const bool labels = std::ranges::none_of(was, &std::string::empty, &ShownBlock::label) &&
                      std::ranges::none_of(is, &std::string::empty, &ShownBlock::label);
  auto found = labels ? differences_by_label(array, was, is) : differences_by_index(array, was, is);
  if (found.size() > kMostDifferences) {
    const auto more = found.size() - kMostDifferences;
    found.resize(kMostDifferences);
    found.push_back(fmt::format("{} more changes of {}", more, array.path()));
  }
  return found;
}

}  // namespace smd::config
