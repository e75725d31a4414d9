// SPDX-License-Identifier: Apache-2.0
#pragma once
// How one kind of value is read, shown and described. The schema puts a codec to each key.

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/spot.h"
#include "config/suggest.h"
#include "config/value.h"
#include "mad/base/id.h"

namespace smd::config {

/// What an override's text is made into before it is read. `blocks` stand in the file only.
enum class Form : std::uint8_t { flag, whole, text, list, guids_or_text, blocks };

/// A key of the blocks of an array of tables, as documents describe it.
struct BlockKeyDoc {
  std::string_view name{};
  std::string_view opensm{};  ///< OpenSM's option of the same meaning; empty: none
  std::string_view doc{};
  std::string allowed{};
  std::string value{};    ///< the default, as TOML
  std::string example{};  ///< as TOML
  bool required = false;
};

/// One block of an array of tables, as it is shown.
struct ShownBlock {
  struct KeyValue {
    std::string_view name{};
    std::string value{};    ///< as TOML
    std::string meaning{};  ///< may be empty
  };
  std::string label{};           ///< the value of its first unique key; empty: it has none
  std::vector<KeyValue> keys{};  ///< those that are required or differ from their defaults
};

template <class T>
struct Codec {
  Form form = Form::text;
  std::string allowed{};                                              ///< "a whole number from 0 to 7"
  std::function<std::optional<T>(const Value&, const Spot&)> read{};  ///< nothing: the error is noted
  std::function<std::string(const T&)> show{};                        ///< as TOML
  std::function<std::string(const T&)> explain{};                     ///< what a value means; may be absent
  std::vector<BlockKeyDoc> block_keys{};  ///< of an array of tables (config/blocks.h); else empty
  std::function<std::vector<ShownBlock>(const T&)> show_blocks{};  ///< of an array of tables
};

/// Calls `read` with each item of a list and its place. False if that added an error.
bool read_each(const Value& list, const Spot& spot,
               const std::function<void(const Value& item, const Spot& at)>& read);

/// The index of the word that equals the text, ignoring case, or the digits of a number; else nothing.
std::optional<std::size_t> index_of_word(const Value& value, std::span<const std::string> words);
/// "a", 5 or "b": numbers bare, other words in quotes.
std::string show_words(std::span<const std::string> words);
/// One word of these.
std::string show_word(std::string_view word);

/// Numbers and ids from `least` to `most`. `else_allowed` is added to the text of what is allowed.
template <class T>
Codec<T> whole(std::int64_t least, std::int64_t most, std::string_view else_allowed = {}) {
  const auto number = [](const T& value) -> std::int64_t {
    if constexpr (std::integral<T>) {
      return static_cast<std::int64_t>(value);
    } else {
      return static_cast<std::int64_t>(value.value());
    }
  };
  Codec<T> codec;
  codec.form = Form::whole;
  codec.allowed = fmt::format("a whole number from {} to {}{}", least, most, else_allowed);
  const auto range = fmt::format("{} to {}{}", least, most, else_allowed);
  codec.read = [least, most, range, allowed = codec.allowed](const Value& value,
                                                             const Spot& spot) -> std::optional<T> {
    if (value.kind == Value::Kind::whole && (value.whole < least || value.whole > most)) {
      spot.refuse(value, fmt::format("{} is out of range ({})", value.spelled, range));
      return std::nullopt;
    }
    if (value.kind != Value::Kind::whole) {
      const bool only_quoted = value.kind == Value::Kind::text &&
                               value.text.find_first_not_of("0123456789") == std::string::npos &&
                               value.line != 0;
      spot.wrong(value, allowed, only_quoted && !value.text.empty() ? "write it without quotes" : "");
      return std::nullopt;
    }
    if constexpr (std::integral<T>) {
      return static_cast<T>(value.whole);
    } else {
      return T{static_cast<typename T::rep>(value.whole)};
    }
  };
  codec.show = [number](const T& value) { return std::to_string(number(value)); };
  return codec;
}

/// A number, or `word`, which stands for no number.
template <class T>
Codec<std::optional<T>> whole_or_word(std::int64_t least, std::int64_t most, std::string_view word) {
  const auto codec = whole<T>(least, most, fmt::format(", or \"{}\"", word));
  Codec<std::optional<T>> with;
  with.form = codec.form;
  with.allowed = codec.allowed;
  with.read = [codec, word](const Value& value, const Spot& spot) -> std::optional<std::optional<T>> {
    if (value.kind == Value::Kind::text && value.text == word) return std::optional<T>();
    auto found = codec.read(value, spot);
    if (!found) return std::nullopt;
    return std::optional<std::optional<T>>(std::in_place, std::move(found));
  };
  with.show = [codec, word](const std::optional<T>& value) {
    return value ? codec.show(*value) : fmt::format("\"{}\"", word);
  };
  return with;
}

/// What `codec` reads, or `word`, which stands for no value and means `meaning`.
template <class T>
Codec<std::optional<T>> or_word(const Codec<T>& codec, std::string_view word, std::string meaning) {
  Codec<std::optional<T>> with;
  with.form = codec.form;
  with.allowed = fmt::format("{}, or \"{}\"", codec.allowed, word);
  with.read = [codec, word](const Value& value, const Spot& spot) -> std::optional<std::optional<T>> {
    if (value.kind == Value::Kind::text && value.text == word) return std::optional<T>();
    auto found = codec.read(value, spot);
    if (!found) return std::nullopt;
    return std::optional<std::optional<T>>(std::in_place, std::move(found));
  };
  with.show = [codec, word](const std::optional<T>& value) {
    return value ? codec.show(*value) : fmt::format("\"{}\"", word);
  };
  with.explain = [codec, meaning = std::move(meaning)](const std::optional<T>& value) {
    if (!value) return meaning;
    return codec.explain ? codec.explain(*value) : std::string();
  };
  return with;
}

/// One of the words of `choices`, such as "auto", 2048, "EDR"; case is ignored.
template <class T>
Codec<T> one_of(const std::vector<std::pair<std::string, T>>& choices) {
  std::vector<std::string> words;
  words.reserve(choices.size());
  for (const auto& [word, value] : choices) words.push_back(word);
  Codec<T> codec;
  codec.allowed = show_words(words);
  codec.read = [choices, words](const Value& value, const Spot& spot) -> std::optional<T> {
    const auto index = index_of_word(value, words);
    if (index) return choices[*index].second;
    const bool text = value.kind == Value::Kind::text;
    spot.wrong(value, show_words(words), text ? did_you_mean(value.text, words) : "");
    return std::nullopt;
  };
  codec.show = [choices](const T& value) -> std::string {
    for (const auto& [word, meaning] : choices) {
      if (meaning == value) return show_word(word);
    }
    return fmt::format("{}", "\"?\"");
  };
  return codec;
}

/// true or false, with the meaning of each.
Codec<bool> flag(std::string_view when_true, std::string_view when_false);
/// From `least` to `most`, and 0 with the given meaning where `zero` is not empty.
Codec<Duration> duration(Duration least, Duration most, std::string zero = {});
/// A code of the wire, 0 to 31: 4.096 us * 2^code.
Codec<std::uint8_t> time_code(std::uint8_t never_above);
/// "2%" or "0.5%", from 0 to 100, in tenths.
Codec<std::uint32_t> percent();
/// Text for which `is_right` is true.
Codec<std::string> text(std::string allowed, std::function<bool(const std::string&)> is_right);
/// A file's or directory's name, relative to the folder of smd.toml; it need not exist.
Codec<std::string> path(std::string allowed, bool may_be_empty);
/// A list of GUIDs, each once.
Codec<std::vector<Guid>> guids();
/// A list of words that the context allows, each once; at least `least` of them. `what` names them in errors.
Codec<std::vector<std::string>> names(std::string what, std::vector<std::string> ConfigContext::* allowed,
                                      std::size_t least);
/// 64 bits in hexadecimal, in quotes.
Codec<std::uint64_t> hex64();

/// A list as TOML.
std::string show_strings(std::span<const std::string> items);
/// A list of GUIDs as TOML.
std::string show_guids(std::span<const Guid> guids);

}  // namespace smd::config
