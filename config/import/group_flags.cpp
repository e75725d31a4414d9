// SPDX-License-Identifier: Apache-2.0
#include "config/import/group_flags.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "config/import/c_number.h"
#include "config/toml_reader.h"
#include "mad/base/rate.h"

namespace smd::config {
namespace {

std::string_view strip_blanks(std::string_view text) {
  constexpr std::string_view kBlank = " \t\n";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

/// The number of a flag; 0, with a warning, where it has none.
std::uint64_t flag_number(std::string_view name, std::string_view value, ConfNotes& notes) {
  const auto number = read_c_number(value);
  if (number.digits && !number.rest.empty())
    notes.warn(name, fmt::format("\"{}\" is read as {}, as opensm does", printable(value), number.value));
  return number.value;
}

void set_mtu(const ConfToken& flag, GroupSettings& settings, ConfNotes& notes) {
  const auto value = flag.value.value_or("");
  const auto code = flag_number("mtu", value, notes);
  if (code >= 1 && code <= std::to_underlying(Mtu::m4096)) {
    settings.mtu = static_cast<Mtu>(code);
    return;
  }
  std::string hint;
  if (code == 2048 || code == 4096) hint = fmt::format("{} bytes are mtu={}", code, code == 2048 ? 4 : 5);
  notes.wrong("mtu", value, "a code from 1 to 5, for 256, 512, 1024, 2048 and 4096 bytes", std::move(hint));
}

void set_rate(const ConfToken& flag, GroupSettings& settings, ConfNotes& notes) {
  const auto value = flag.value.value_or("");
  const auto code = flag_number("rate", value, notes);
  if (code <= 0xff && rate_mbps(static_cast<std::uint8_t>(code)) != 0) {
    settings.rate = static_cast<std::uint8_t>(code);
    return;
  }
  std::string hint;
  for (const auto& rate : kStaticRates) {
    if (rate.mbps == code * 1000) hint = fmt::format("{} Gb/s are rate={}", code, rate.code);
  }
  notes.wrong("rate", value, "a code from 2 to 25, such as 3 for 10 Gb/s, 16 for 100, 21 for 400",
              std::move(hint));
}

void set_scope(const ConfToken& flag, GroupSettings& settings, ConfNotes& notes) {
  const auto value = flag.value.value_or("");
  const auto scope = flag_number("scope", value, notes) & 0xffffffffU;
  if (scope == 0 || scope > 15)
    return notes.warn("scope", fmt::format("\"{}\" is no scope from 1 to 15: ignored", printable(value)));
  settings.scopes = static_cast<std::uint16_t>(settings.scopes | (1U << scope));
}

void set_q_key(const ConfToken& flag, GroupSettings& settings, ConfNotes& notes) {
  const auto value = flag.value.value_or("");
  const auto number = flag_number("Q_Key", value, notes);
  settings.qkey = static_cast<std::uint32_t>(number);
  if (number > 0xffffffff)
    notes.warn("Q_Key",
               fmt::format("of \"{}\" the low 32 bits count: 0x{:08x}", printable(value), settings.qkey));
  if (settings.qkey == 0)
    notes.warn("Q_Key", fmt::format("\"{}\" is 0: the default of the group counts", printable(value)));
}

void set_tclass(const ConfToken& flag, GroupSettings& settings, ConfNotes& notes) {
  const auto value = flag.value.value_or("");
  const auto number = flag_number("TClass", value, notes);
  settings.tclass = static_cast<std::uint8_t>(number);
  if (number == 0 || number > 0xff)
    notes.warn("TClass", fmt::format("\"{}\" is read as {}", printable(value), settings.tclass));
}

/// opensm takes a number with nothing but white space behind it, and keeps 32 bits; else the flag is skipped.
std::optional<std::uint32_t> strict_number(const ConfToken& flag, std::uint32_t most) {
  if (!flag.value || flag.value->empty()) return std::nullopt;
  const auto number = read_c_number(*flag.value);
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  const auto value = static_cast<std::uint32_t>(number.value);
  if (value > most || (!number.rest.empty() && !kSpace.contains(number.rest[0]))) return std::nullopt;
  return value;
}

void set_sl(const ConfToken& flag, GroupSettings& settings, ConfNotes& notes) {
  if (const auto sl = strict_number(flag, 15)) {
    settings.sl = Sl{static_cast<std::uint8_t>(*sl)};
  } else {
    notes.warn("sl",
               fmt::format("\"{}\" is no SL from 0 to 15: ignored", printable(flag.value.value_or(""))));
  }
}

void set_flow_label(const ConfToken& flag, GroupSettings& settings, ConfNotes& notes) {
  if (const auto label = strict_number(flag, 0xfffff)) {
    settings.flow_label = *label;
  } else {
    notes.warn("FlowLabel", fmt::format("\"{}\" is no flow label from 0 to 0xfffff: ignored",
                                        printable(flag.value.value_or(""))));
  }
}

struct GroupFlag {
  std::string_view name;
  void (*set)(const ConfToken&, GroupSettings&, ConfNotes&);
};
/// In OpenSM's order, which decides what a prefix of several names means.
constexpr std::array kGroupFlags{GroupFlag{"mtu", set_mtu},
                                 GroupFlag{"rate", set_rate},
                                 GroupFlag{"scope", set_scope},
                                 GroupFlag{"Q_Key", set_q_key},
                                 GroupFlag{"TClass", set_tclass},
                                 GroupFlag{"sl", set_sl},
                                 GroupFlag{"FlowLabel", set_flow_label}};

}  // namespace

ConfToken take_token(std::optional<std::string_view>& text) {
  const auto list = text.value_or("");
  const auto comma = list.find(',');
  const auto token = list.substr(0, comma);
  text.reset();
  if (comma != std::string_view::npos) text = list.substr(comma + 1);
  const auto equals = token.find('=');
  if (equals == std::string_view::npos) return {.name = strip_blanks(token), .value = std::nullopt};
  return {.name = strip_blanks(token.substr(0, equals)), .value = strip_blanks(token.substr(equals + 1))};
}

bool is_prefix_of(std::string_view given, std::string_view word) { return word.starts_with(given); }

bool apply_group_flag(const ConfToken& flag, GroupSettings& settings, ConfNotes& notes) {
  for (const auto& known : kGroupFlags) {
    if (!is_prefix_of(flag.name, known.name)) continue;
    const bool only_empty = flag.name.empty() && !flag.value;
    if (only_empty) return true;
    if (flag.name.empty())
      notes.warn("flag", fmt::format("a flag without a name sets mtu, as opensm has it: \"={}\"",
                                     printable(flag.value.value_or(""))));
    if (flag.value) {
      known.set(flag, settings, notes);
    } else {
      notes.warn(known.name, "a flag without a value: ignored");
    }
    return true;
  }
  return false;
}

std::vector<std::string> group_flag_names() {
  std::vector<std::string> names;
  for (const auto& flag : kGroupFlags) names.emplace_back(flag.name);
  return names;
}

}  // namespace smd::config
