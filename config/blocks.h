// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arrays of tables, such as [[partition]]. A block is one table of the array. The rows of its keys make the
// codec of the whole array, which then is a row of the schema like any other:
//
//   row({.table = "qos", .name = "level", …}, &SubnetConfig::qos, &QosConfig::levels,
//       blocks<QosLevel>({block_key({.name = "name", .doc = "…", .required = true, .unique = true},
//                                   &QosLevel::name, text(…)), …}));

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/codecs.h"

namespace smd::config {

struct AboutBlockKey {
  std::string_view name;
  std::string_view doc;
  std::string_view opensm = "";
  std::string_view example = "";  ///< as TOML, for the shipped file; empty: the default
  bool required = false;
  bool unique = false;  ///< no two blocks may have the same value
};

/// A key of a block and the member that it fills.
template <class Block>
struct BlockKey {
  BlockKeyDoc doc{};
  bool unique = false;
  std::function<void(const Value&, const Spot&, Block&)> read{};
  std::function<std::string(const Block&)> show{};
  std::function<std::string(const Block&)> explain{};
};

/// The row of one key. Its default is the member's.
template <class Block, class T>
BlockKey<Block> block_key(const AboutBlockKey& about, T Block::* member, Codec<T> codec) {
  BlockKey<Block> key;
  key.doc = {.name = about.name, .opensm = about.opensm, .doc = about.doc, .allowed = codec.allowed};
  key.doc.required = about.required;
  key.doc.value = codec.show(Block{}.*member);
  key.doc.example = about.example.empty() ? key.doc.value : std::string(about.example);
  key.unique = about.unique;
  key.read = [member, read = std::move(codec.read)](const Value& value, const Spot& spot, Block& into) {
    if (auto found = read(value, spot)) into.*member = *std::move(found);
  };
  key.show = [member, show = std::move(codec.show)](const Block& from) { return show(from.*member); };
  if (codec.explain) {
    key.explain = [member, explain = std::move(codec.explain)](const Block& from) {
      return explain(from.*member);
    };
  }
  return key;
}

template <class Block>
struct BlockOptions {
  /// Notes where a block stands, for messages that are made later; called with each table before `check`.
  std::function<void(Block&, const Value& table)> place{};
  /// Notes what no single key shows; called with blocks whose keys are all right.
  std::function<void(const Block&, const Value& table, const Spot& at)> check{};
  /// A block that is written as one text instead of a table; without it only tables are read.
  std::optional<Codec<Block>> short_form{};
};

/// The values of unique keys so far. One load of one array makes one.
class UniqueValues {
 public:
  /// Notes at `at` that an earlier line has this value of `key` already. `shown` is its normal form.
  void add(std::string_view key, const std::string& shown, const Value& value, const Spot& at);

 private:
  std::map<std::pair<std::string, std::string>, unsigned, std::less<>> lines_;
};

/// The heading of the blocks at a place: "subnet[0].sa.prefix_routes" has "[[subnet.sa.prefix_routes]]".
std::string block_heading(std::string_view key);

/// True for a list; else notes that blocks are expected. `short_allowed`: what one may be written as, too.
bool is_block_list(const Value& value, const Spot& at, std::string_view short_allowed);

/// Notes keys of a block that are unknown, and those that are required and missing (not while lines of the
/// file could not be read).
void check_block_keys(const Value& table, const Spot& at, const std::vector<BlockKeyDoc>& keys);

/// Notes that an item of an array of tables is no table.
void refuse_item(const Value& item, const Spot& at);

/// As TOML on one line: [{name = "a"}, {name = "b"}].
std::string show_inline(const std::vector<ShownBlock>& blocks);

/// Reads one table; what is wrong with it is noted.
template <class Block>
void read_block(const Value& table, const Spot& at, const std::vector<BlockKey<Block>>& keys,
                UniqueValues& unique, Block& into) {
  for (const auto& item : table.items) {
    for (const auto& key : keys) {
      if (key.doc.name != item.key) continue;
      const auto place = at.with_key(at.key + "." + item.key);
      const auto before = at.errors.size();
      key.read(item, place, into);
      if (key.unique && at.errors.size() == before) unique.add(item.key, key.show(into), item, place);
    }
  }
}

/// A block as `smd check` shows it.
template <class Block>
ShownBlock show_block(const Block& block, const std::vector<BlockKey<Block>>& keys) {
  ShownBlock shown;
  for (const auto& key : keys) {
    auto value = key.show(block);
    if (key.unique && shown.label.empty()) shown.label = value;
    if (!key.doc.required && value == key.show(Block{})) continue;
    shown.keys.push_back({.name = key.doc.name,
                          .value = std::move(value),
                          .meaning = key.explain ? key.explain(block) : std::string()});
  }
  return shown;
}

/// Reads the whole array; nothing where an error was noted.
template <class Block>
std::optional<std::vector<Block>> read_blocks(const Value& value, const Spot& spot,
                                              const std::vector<BlockKey<Block>>& keys,
                                              const std::vector<BlockKeyDoc>& docs,
                                              const BlockOptions<Block>& options) {
  const auto& short_form = options.short_form;
  if (!is_block_list(value, spot, short_form ? short_form->allowed : std::string())) return std::nullopt;
  std::vector<Block> found;
  UniqueValues unique;
  const bool good = read_each(value, spot, [&](const Value& item, const Spot& at) {
    auto& block = found.emplace_back();
    if (item.is_table()) {
      const auto before = at.errors.size();
      check_block_keys(item, at, docs);
      read_block(item, at, keys, unique, block);
      if (options.place) options.place(block, item);
      if (options.check && at.errors.size() == before) options.check(block, item, at);
    } else if (short_form) {
      if (auto read = short_form->read(item, at)) block = *std::move(read);
    } else {
      refuse_item(item, at);
    }
  });
  return good ? std::optional(std::move(found)) : std::nullopt;
}

/// The codec of an array of tables. Errors name the block by its index from 0, the line and the key.
template <class Block>
Codec<std::vector<Block>> blocks(std::vector<BlockKey<Block>> keys, BlockOptions<Block> options = {}) {
  using Blocks = std::vector<Block>;
  Codec<Blocks> codec;
  for (const auto& key : keys) codec.block_keys.push_back(key.doc);
  codec.form = options.short_form ? Form::list : Form::blocks;
  codec.allowed = options.short_form ? "a list of " + options.short_form->allowed : "blocks";
  codec.show_blocks = [keys](const Blocks& from) {
    std::vector<ShownBlock> shown;
    for (const auto& block : from) shown.push_back(show_block(block, keys));
    return shown;
  };
  codec.show = [all = codec.show_blocks, form = options.short_form](const Blocks& from) -> std::string {
    if (!form) return show_inline(all(from));
    std::string out = "[";
    for (const auto& block : from) out += (out.size() > 1 ? ", " : "") + form->show(block);
    return out + "]";
  };
  codec.read = [keys = std::move(keys), options = std::move(options), docs = codec.block_keys](
                   const Value& value, const Spot& spot) {
    return read_blocks(value, spot, keys, docs, options);
  };
  return codec;
}

}  // namespace smd::config
