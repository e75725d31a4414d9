// SPDX-License-Identifier: Apache-2.0
#include "config/codecs.h"

#include <algorithm>
#include <cctype>

#include "config/lines.h"
#include "config/scalars.h"

namespace smd::config {
namespace {

bool same_word(std::string_view a, std::string_view b) { return edit_distance(a, b) == 0; }

bool is_number(std::string_view word) {
  return std::ranges::all_of(word, [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::string hint_for_guid(const Value& value) {
  return value.kind == Value::Kind::whole ? "write it in quotes, as in \"0x0002c90300001234\"" : "";
}

std::optional<std::vector<Guid>> read_guids(const Value& value, const Spot& spot) {
  if (value.kind != Value::Kind::list) {
    spot.wrong(value, "a list of GUIDs, as in [\"0x0002c90300001234\"]");
    return std::nullopt;
  }
  std::vector<Guid> guids;
  const bool good = read_each(value, spot, [&](const Value& item, const Spot& at) {
    const auto guid = item.kind == Value::Kind::text ? parse_guid(trim(item.text)) : std::nullopt;
    if (!guid) {
      at.wrong(item, std::string(kGuidForm), hint_for_guid(item));
    } else if (std::ranges::find(guids, *guid) != guids.end()) {
      at.refuse(item, fmt::format("duplicate GUID {}", item.spelled));
    }
    guids.push_back(guid.value_or(Guid{}));
  });
  return good ? std::optional(std::move(guids)) : std::nullopt;
}

std::string seconds_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.4g} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.4g} ms", seconds * 1e3);
  return fmt::format("{:.4g} s", seconds);
}

}  // namespace

bool read_each(const Value& list, const Spot& spot,
               const std::function<void(const Value& item, const Spot& at)>& read) {
  const auto before = spot.errors.size();
  for (std::size_t i = 0; i < list.items.size(); ++i) read(list.items[i], spot.element(i));
  return spot.errors.size() == before;
}

std::optional<std::size_t> index_of_word(const Value& value, std::span<const std::string> words) {
  const auto spelled = value.kind == Value::Kind::whole ? std::to_string(value.whole) : value.text;
  if (value.kind != Value::Kind::whole && value.kind != Value::Kind::text) return std::nullopt;
  const auto at = std::ranges::find_if(words, [&](const auto& word) { return same_word(word, spelled); });
  if (at == words.end()) return std::nullopt;
  return static_cast<std::size_t>(at - words.begin());
}

std::string show_word(std::string_view word) {
  return is_number(word) ? std::string(word) : toml_quoted(word);
}

std::string show_words(std::span<const std::string> words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != 0) out += i + 1 == words.size() ? " or " : ", ";
    out += show_word(words[i]);
  }
  return out;
}

Codec<bool> flag(std::string_view when_true, std::string_view when_false) {
  Codec<bool> codec;
  codec.form = Form::flag;
  codec.allowed = "true or false";
  codec.read = [](const Value& value, const Spot& spot) -> std::optional<bool> {
    if (value.kind == Value::Kind::flag) return value.flag;
    const bool quoted_flag = value.text == "true" || value.text == "false";
    spot.wrong(value, "true or false", quoted_flag ? "write it without quotes" : "");
    return std::nullopt;
  };
  codec.show = [](const bool& value) { return std::string(value ? "true" : "false"); };
  codec.explain = [=](const bool& value) { return std::string(value ? when_true : when_false); };
  return codec;
}

Codec<Duration> duration(Duration least, Duration most, std::string zero) {
  Codec<Duration> codec;
  auto range = fmt::format("{} to {}", toml_quoted(show_duration(least)), toml_quoted(show_duration(most)));
  if (!zero.empty()) range += fmt::format(", or \"0s\" ({})", zero);
  codec.allowed = "a time from " + range;
  codec.read = [=, allowed = codec.allowed](const Value& value, const Spot& spot) -> std::optional<Duration> {
    const auto time = value.kind == Value::Kind::text ? parse_duration(trim(value.text)) : std::nullopt;
    const bool off = !zero.empty() && time == Duration::zero();
    if (time && (off || (*time >= least && *time <= most))) return time;
    if (time) {
      spot.refuse(value, fmt::format("{} is out of range ({})", value.spelled, range));
      return std::nullopt;
    }
    const bool no_unit = value.kind == Value::Kind::whole || (!value.text.empty() && is_number(value.text));
    const auto number = value.kind == Value::Kind::whole ? std::to_string(value.whole) : value.text;
    spot.wrong(value, allowed,
               no_unit ? fmt::format("write the unit, as in \"{}s\" or \"{}ms\"", number, number) : "");
    return std::nullopt;
  };
  codec.show = [](const Duration& value) { return toml_quoted(show_duration(value)); };
  codec.explain = [zero](const Duration& value) { return value == Duration::zero() ? zero : std::string(); };
  return codec;
}

Codec<std::uint8_t> time_code(std::uint8_t never_above) {
  auto codec = whole<std::uint8_t>(0, 31);
  codec.explain = [never_above](const std::uint8_t& code) -> std::string {
    if (code > never_above) return "for ever";
    return seconds_text(4.096e-6 * static_cast<double>(std::uint64_t{1} << code));
  };
  return codec;
}

Codec<std::uint32_t> percent() {
  Codec<std::uint32_t> codec;
  codec.allowed = "a share from \"0%\" to \"100%\", with one decimal at most";
  codec.read = [allowed = codec.allowed](const Value& value,
                                         const Spot& spot) -> std::optional<std::uint32_t> {
    auto words = value.kind == Value::Kind::text ? trim(value.text) : std::string_view{};
    const bool has_sign = words.ends_with('%');
    if (has_sign) words = trim(words.substr(0, words.size() - 1));
    const auto dot = words.find('.');
    const auto digits = [](std::string_view part, std::size_t most) {
      return !part.empty() && part.size() <= most && part.find_first_not_of("0123456789") == part.npos;
    };
    const auto units = words.substr(0, dot);
    const auto tenths = dot == words.npos ? std::string_view("0") : words.substr(dot + 1);
    if (has_sign && digits(units, 3) && digits(tenths, 1)) {
      const auto number = *parse_number(units) * 10 + *parse_number(tenths);
      if (number <= 1000) return static_cast<std::uint32_t>(number);
    }
    const bool bare = value.kind == Value::Kind::whole || digits(words, 3);
    spot.wrong(value, allowed, bare && !has_sign ? "write the sign, as in \"2%\"" : "");
    return std::nullopt;
  };
  codec.show = [](const std::uint32_t& value) {
    const auto text =
        value % 10 == 0 ? fmt::format("{}%", value / 10) : fmt::format("{}.{}%", value / 10, value % 10);
    return toml_quoted(text);
  };
  return codec;
}

Codec<std::string> text(std::string allowed, std::function<bool(const std::string&)> is_right) {
  Codec<std::string> codec;
  codec.allowed = std::move(allowed);
  codec.read = [is_right = std::move(is_right), may = codec.allowed](
                   const Value& value, const Spot& spot) -> std::optional<std::string> {
    if (value.kind == Value::Kind::text && is_right(value.text)) return value.text;
    spot.wrong(value, may);
    return std::nullopt;
  };
  codec.show = [](const std::string& value) { return toml_quoted(value); };
  return codec;
}

Codec<std::vector<Guid>> guids() {
  Codec<std::vector<Guid>> codec;
  codec.form = Form::list;
  codec.allowed = "a list of GUIDs";
  codec.read = read_guids;
  codec.show = [](const std::vector<Guid>& value) { return show_guids(value); };
  return codec;
}

Codec<std::vector<std::string>> names(std::string what, std::vector<std::string> ConfigContext::* allowed,
                                      std::size_t least) {
  using Names = std::vector<std::string>;
  Codec<Names> codec;
  codec.form = Form::list;
  codec.allowed = fmt::format("a list of {}{}", what, least > 0 ? ", at least one" : "");
  codec.read = [=, may = codec.allowed](const Value& value, const Spot& spot) -> std::optional<Names> {
    if (value.kind != Value::Kind::list || value.items.size() < least) {
      spot.wrong(value, may,
                 value.kind == Value::Kind::text ? fmt::format("write [{}]", toml_quoted(value.text)) : "");
      return std::nullopt;
    }
    const auto& words = spot.context.*allowed;
    Names found;
    const bool good = read_each(value, spot, [&](const Value& item, const Spot& at) {
      const bool known = words.empty() || std::ranges::find(words, item.text) != words.end();
      if (item.kind != Value::Kind::text || item.text.empty() || !known) {
        at.wrong(item, fmt::format("one of the {}: {}", what, fmt::join(words, ", ")),
                 did_you_mean(item.text, words));
      } else if (std::ranges::find(found, item.text) != found.end()) {
        at.refuse(item, fmt::format("duplicate name {}", item.spelled));
      }
      found.push_back(item.text);
    });
    return good ? std::optional(std::move(found)) : std::nullopt;
  };
  codec.show = [](const Names& value) { return show_strings(value); };
  return codec;
}

Codec<std::uint64_t> hex64() {
  Codec<std::uint64_t> codec;
  codec.allowed = "64 bits, not all of them 0, in hexadecimal and in quotes, as in \"0xfe80000000000000\"";
  codec.read = [allowed = codec.allowed](const Value& value,
                                         const Spot& spot) -> std::optional<std::uint64_t> {
    const auto bits = value.kind == Value::Kind::text ? parse_guid(value.text) : std::nullopt;
    if (bits) return bits->value();
    spot.wrong(value, allowed);
    return std::nullopt;
  };
  codec.show = [](const std::uint64_t& value) { return fmt::format("\"0x{:016x}\"", value); };
  return codec;
}

std::string show_strings(std::span<const std::string> items) {
  std::string out = "[";
  for (const auto& item : items) out += (out.size() > 1 ? ", " : "") + toml_quoted(item);
  return out + "]";
}

std::string show_guids(std::span<const Guid> guids) {
  std::vector<std::string> items;
  items.reserve(guids.size());
  for (const auto guid : guids) items.push_back(fmt::format("{}", guid));
  return show_strings(items);
}

}  // namespace smd::config
