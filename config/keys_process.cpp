// SPDX-License-Identifier: Apache-2.0
// The keys of [log] and [names], and those that say which port a [[subnet]] is on.
#include <algorithm>
#include <array>

#include "config/lines.h"
#include "config/name_map.h"
#include "config/rows.h"
#include "config/scalars.h"

namespace smd::config {
namespace {

Codec<std::string> log_target() {
  Codec<std::string> codec;
  codec.allowed = "\"stderr\", \"journal\" or a file's path (with a '/')";
  codec.read = [allowed = codec.allowed](const Value& value, const Spot& spot) -> std::optional<std::string> {
    static constexpr std::array<std::string_view, 2> kWords{"stderr", "journal"};
    const bool is_text = value.kind == Value::Kind::text;
    if (is_text && std::ranges::find(kWords, value.text) != kWords.end()) return value.text;
    if (is_text && value.text.find('/') != std::string::npos && !value.text.ends_with('/')) {
      auto file = spot.resolve(value.text);
      std::error_code unknown;  // then it counts as a file
      if (!std::filesystem::is_directory(file, unknown)) return file.string();
      spot.wrong(value, allowed, "this is a folder");
      return std::nullopt;
    }
    const std::vector<std::string> words(kWords.begin(), kWords.end());
    spot.wrong(value, allowed, is_text ? did_you_mean(value.text, words) : "");
    return std::nullopt;
  };
  codec.show = [](const std::string& value) { return toml_quoted(value); };
  return codec;
}

template <class T>
Key log_row(std::string_view name, std::string_view opensm, T LogConfig::* member, Codec<T> codec,
            std::string_view doc) {
  return row(
      {.table = "log", .name = name, .opensm = opensm, .doc = doc},
      [=](auto& settings) -> auto& { return settings.log.*member; }, std::move(codec));
}

/// A folder of its dumps and a word of its log lines: no '/', no spaces, not "." or "..".
bool is_subnet_name(const std::string& name) {
  constexpr std::string_view kMore = "._:-";
  return !name.starts_with('.') && std::ranges::all_of(name, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kMore.find(c) != std::string_view::npos;
  });
}

/// "mlx5_0" or "mlx5_0:1", a device's name as it stands in /sys/class/infiniband.
bool is_port_name(const std::string& name) {
  if (name.empty()) return true;
  const auto colon = name.find(':');
  const auto device = std::string_view(name).substr(0, colon);
  if (device.empty() || device.find_first_of(" \t\n/") != std::string_view::npos) return false;
  if (colon == std::string::npos) return true;
  const auto number = parse_number(std::string_view(name).substr(colon + 1));
  return number && *number >= 1 && *number <= 254;
}

Codec<std::optional<Guid>> optional_guid() {
  Codec<std::optional<Guid>> codec;
  codec.allowed = fmt::format("{} in quotes", kGuidForm);
  codec.read = [allowed = codec.allowed](const Value& value,
                                         const Spot& spot) -> std::optional<std::optional<Guid>> {
    if (value.kind == Value::Kind::text && value.text.empty()) return std::optional<Guid>();
    const auto guid = value.kind == Value::Kind::text ? parse_guid(value.text) : std::nullopt;
    if (guid) return std::optional(guid);
    spot.wrong(value, allowed);
    return std::nullopt;
  };
  codec.show = [](const std::optional<Guid>& guid) { return guid ? fmt::format("\"{}\"", *guid) : "\"\""; };
  return codec;
}

}  // namespace

std::vector<Key> log_keys() {
  return {
      log_row("level", "log_flags", &LogConfig::level,
              one_of<LogLevel>({{"error", LogLevel::error},
                                {"warn", LogLevel::warn},
                                {"info", LogLevel::info},
                                {"debug", LogLevel::debug}}),
              "Lines of this level and of graver ones are written."),
      log_row("target", "log_file", &LogConfig::target, log_target(),
              "Where lines go. On stderr that the journal reads, each line carries its priority."),
      log_row("format", "", &LogConfig::format,
              one_of<LogFormat>({{"text", LogFormat::text}, {"json", LogFormat::json}}),
              "How a line is written: `event key=value ...`, or one JSON object."),
      log_row(
          "modules", "per_module_logging_file", &LogConfig::modules,
          explained(names("log modules", &ConfigContext::log_modules, 0), std::vector<std::string>(), "none"),
          "Modules whose lines are all written, debug lines too, whatever the level is. A module is the "
          "word before "
          "the first dot of an event."),
      log_row("guids", "", &LogConfig::guids, explained(guids(), std::vector<Guid>(), "none"),
              "Nodes, by GUID, about which all lines are written, debug lines too."),
  };
}

std::vector<Key> names_keys() {
  Key map{
      .table = "names",
      .name = "map",
      .opensm = "node_name_map_name",
      .doc =
          "A node name map: a file with `0xguid \"name\"` a line. These names are used instead of the node "
          "descriptions that the nodes report."};
  map.allowed = "a file's name";
  map.read = [](const Value& value, const Spot& spot, Settings& into) {
    NamesConfig found;
    if (value.kind != Value::Kind::text) return spot.wrong(value, "a file's name");
    if (!value.text.empty()) {
      const auto bytes = spot.contents(value);
      if (!bytes) return;
      found.map = spot.resolve(value.text).string();
      auto nodes = read_name_map(*bytes, found.map);
      if (!nodes) {
        spot.errors.insert(spot.errors.end(), nodes.error().begin(), nodes.error().end());
        return;
      }
      found.nodes = *std::move(nodes);
    }
    into.subnet.names = std::move(found);
  };
  map.show = [](const Settings& from) { return toml_quoted(from.subnet.names.map); };
  map.explain = [](const Settings& from) {
    return from.subnet.names.map.empty() ? "" : fmt::format("{} names", from.subnet.names.nodes.size());
  };
  return {map};
}

std::vector<Key> subnet_keys() {
  return {
      row(
          {.table = "subnet",
           .name = "name",
           .opensm = "",
           .doc = "What the subnet is called in log lines, dumps and stored state. Without it: its port's "
                  "GUID."},
          [](auto& settings) -> auto& { return settings.subnet.name; },
          text("letters, digits and . _ : - (no dot first)", is_subnet_name)),
      row(
          {.table = "subnet",
           .name = "port",
           .opensm = "",
           .doc = "The port to use: a device's name, and the number of its port after a colon. Without it "
                  "and without "
                  "port_guid: the first usable port."},
          [](auto& settings) -> auto& { return settings.subnet.port; },
          text("a device and a port number from 1 to 254, as in \"mlx5_0:1\"", is_port_name)),
      row(
          {.table = "subnet", .name = "port_guid", .opensm = "guid", .doc = "The port to use, by its GUID."},
          [](auto& settings) -> auto& { return settings.subnet.port_guid; }, optional_guid()),
  };
}

}  // namespace smd::config
