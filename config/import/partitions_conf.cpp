// SPDX-License-Identifier: Apache-2.0
#include "config/import/partitions_conf.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "config/import/c_number.h"
#include "config/import/conf_members.h"
#include "config/import/conf_notes.h"
#include "config/import/group_flags.h"
#include "config/scalars.h"
#include "config/suggest.h"
#include "config/toml_reader.h"

namespace smd::config {
namespace {

constexpr std::size_t kLongestLine = 4094;  // what opensm's fgets takes at once
constexpr std::string_view kBlank = " \t\n";
constexpr std::string_view kHeaderForm =
    "NAME=PKEY,FLAGS : MEMBERS, with the ':' in the line that it begins in";

bool is_blank(std::string_view text) { return text.find_first_not_of(kBlank) == std::string_view::npos; }

class ConfReader {
 public:
  ConfReader(const std::string& file, const PartitionsConfOptions& options)
      : notes_(file), options_(options) {}

  void read(std::string_view text) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    for (unsigned line = 1; !text.empty(); ++line) {
      const auto end = text.find('\n');
      notes_.set_line(line);
      read_line(text.substr(0, end));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    end_of_file();
  }

  std::expected<PartitionsConf, std::vector<ConfigError>> take() {
    if (notes_.any_errors()) return std::unexpected(notes_.take_errors());
    return PartitionsConf{.definitions = std::move(definitions_), .warnings = notes_.take_warnings()};
  }

 private:
  /// `broken`: its header is wrong, so that its members tell nothing.
  enum class State : std::uint8_t { outside, members, broken };

  void read_line(std::string_view line) {
    if (line.size() > kLongestLine)
      return notes_.refuse("", fmt::format("a line of {} bytes, opensm reads at most 4094", line.size()),
                           "split it behind a comma");
    const auto content = line.substr(0, line.find('#'));
    if (content.contains('\0')) return notes_.refuse("", "a NUL byte");
    if (content.contains('\r')) {
      // One error is enough: all lines of such a file end so.
      if (!std::exchange(carriage_return_, true))
        notes_.refuse("", "a carriage return, which opensm does not take for a blank",
                      "convert the file to Unix line ends");
      return;
    }
    std::optional<std::string_view> rest = content;
    while (rest) read_part(*rest, rest);
  }

  /// Reads up to a ';', or to the end of the line.
  void read_part(std::string_view text, std::optional<std::string_view>& rest) {
    const auto semicolon = text.find(';');
    const auto part = text.substr(0, semicolon);
    const bool ends = semicolon != std::string_view::npos;
    rest = ends ? std::optional(text.substr(semicolon + 1)) : std::nullopt;
    if (!ends && is_blank(part)) return;
    if (state_ == State::outside) {
      read_definition(part);
    } else if (state_ == State::members) {
      read_members(part);
    }
    if (!ends) return;
    if (state_ == State::members && is_blank(part) && !is_blank(*rest))
      notes_.warn("", "opensm does not end a definition by a ';' that begins a line",
                  "begin a new line after the ';'");
    if (mgid_line_ == notes_.line() && !is_blank(*rest))
      notes_.warn("mgid", "opensm takes what follows on this line for flags of the group",
                  "begin a new line after the ';'");
    state_ = State::outside;
  }

  void read_definition(std::string_view text) {
    state_ = State::broken;
    const auto colon = text.find(':');
    if (is_blank(text)) return notes_.refuse("", "an empty definition: ';' without a partition before it");
    if (colon == std::string_view::npos) return notes_.wrong("", trim(text), std::string(kHeaderForm));
    if (!read_header(text.substr(0, colon))) return;
    state_ = State::members;
    read_members(text.substr(colon + 1));
  }

  bool read_header(std::string_view text) {
    auto& definition = definitions_.emplace_back();
    definition.source = {.origin = PolicyOrigin::file, .line = notes_.line()};
    // opensm's defaults: 10 Gb/s, 2048 bytes.
    definition.settings = {.mtu = Mtu::m2048, .rate = 3};
    standard_ = Membership::limited;
    index0_ = false;
    std::optional<std::string_view> rest = text;
    if (!read_name(take_token(rest), definition)) return false;
    while (rest) read_flag(take_token(rest), definition);
    if (!options_.qos && definition.settings.sl != Sl{0}) {
      notes_.warn("sl", fmt::format("SL {} is 0 while QoS is off, as opensm has it", definition.settings.sl));
      definition.settings.sl = Sl{0};
    }
    return true;
  }

  bool read_name(ConfToken token, PartitionDefinition& definition) {
    auto id = token.value;
    if (!id && !token.name.empty() && token.name[0] >= '0' && token.name[0] <= '9')
      id = std::exchange(token.name, {});
    definition.name = std::string(token.name);
    if (!id) return true;
    const auto number = read_c_number(*id);
    if (!number.digits || !number.rest.empty()) {
      notes_.wrong("P_Key", *id, "a number such as 0x8001 or 12");
      return false;
    }
    if (number.value > 0xffff)
      notes_.warn("P_Key", fmt::format("of \"{}\" the low 15 bits count: 0x{:04x}", printable(*id),
                                       number.value & 0x7fffU));
    const auto key = static_cast<std::uint16_t>(number.value & 0x7fffU);
    if (key != 0) definition.pkey = key;
    return true;
  }

  void read_flag(const ConfToken& flag, PartitionDefinition& definition) {
    if (apply_group_flag(flag, definition.settings, notes_)) return;
    if (is_prefix_of(flag.name, "ipoib")) {
      definition.ipoib = true;
      warn_of_value(flag, "ipoib", "the group is made");
    } else if (is_prefix_of(flag.name, "defmember")) {
      const auto membership = flag.value ? read_membership(*flag.value) : std::nullopt;
      if (membership) {
        standard_ = *membership;
      } else {
        notes_.warn("defmember", fmt::format("\"{}\" is not full, limited or both: ignored",
                                             printable(flag.value.value_or(""))));
      }
    } else if (flag.name == "indx0") {
      index0_ = true;
      warn_of_value(flag, "indx0", "the key belongs at index 0");
    } else {
      unknown_flag(flag, {"ipoib", "defmember", "indx0"});
    }
  }

  /// A file with "ipoib=no" means something else than opensm makes of it.
  void warn_of_value(const ConfToken& flag, std::string_view name, std::string_view effect) {
    if (!flag.value) return;
    notes_.warn(name, fmt::format("takes no value, \"{}\" is ignored, as opensm does: {}",
                                  printable(*flag.value), effect));
  }

  void unknown_flag(const ConfToken& flag, std::vector<std::string> words) {
    for (auto& name : group_flag_names()) words.push_back(std::move(name));
    notes_.warn("flag", fmt::format("unknown flag \"{}\": ignored", printable(flag.name)),
                did_you_mean(flag.name, words));
  }

  void read_members(std::string_view text) {
    std::optional<std::string_view> rest = text;
    while (rest) {
      const auto token = take_token(rest);
      // A group takes the rest of its line.
      if (token.name == "mgid") return read_group(token, rest);
      if (auto rule = read_conf_member(token, standard_, notes_)) {
        rule->index0 = index0_;
        definitions_.back().members.push_back(*std::move(rule));
      }
    }
  }

  void read_group(const ConfToken& token, std::optional<std::string_view>& rest) {
    mgid_line_ = notes_.line();
    auto& definition = definitions_.back();
    const auto mgid = base::parse_mgid(std::string(token.value.value_or("")));
    if (!mgid) return notes_.wrong("mgid", token.value.value_or(""), "a multicast GID such as ff12:401b::16");
    ExtraGroup group{.mgid = *mgid,
                     .settings = definition.settings,
                     .source = {.origin = PolicyOrigin::file, .line = notes_.line()}};
    group.settings.tclass = 0;  // the only one that opensm does not inherit
    while (rest) {
      const auto flag = take_token(rest);
      if (apply_group_flag(flag, group.settings, notes_)) continue;
      const bool member = read_ports_like(flag.name);
      notes_.warn(
          "mgid", fmt::format("unknown flag \"{}\": ignored", printable(flag.name)),
          member ? "members stand on lines of their own" : did_you_mean(flag.name, group_flag_names()));
    }
    definition.groups.push_back(group);
  }

  static bool read_ports_like(std::string_view name) {
    return name.starts_with("ALL") || name == "SELF" || read_c_number(name).digits;
  }

  void end_of_file() {
    if (state_ == State::members)
      notes_.warn("", fmt::format("no ';' ends the definition of line {}", definitions_.back().source.line));
    if (definitions_.empty() && !notes_.any_errors()) {
      notes_.set_line(0);
      notes_.refuse(
          "", "no partition is defined; opensm makes all ports full members of the default partition then",
          "for that, have no file");
    }
  }

  ConfNotes notes_;
  PartitionsConfOptions options_;
  State state_ = State::outside;
  Membership standard_ = Membership::limited;
  bool index0_ = false;
  bool carriage_return_ = false;
  unsigned mgid_line_ = 0;
  std::vector<PartitionDefinition> definitions_{};
};

}  // namespace

std::expected<PartitionsConf, std::vector<ConfigError>> read_partitions_conf(
    std::string_view text, const std::string& file, const PartitionsConfOptions& options) {
  ConfReader reader(file, options);
  reader.read(text);
  return reader.take();
}

}  // namespace smd::config
