// SPDX-License-Identifier: Apache-2.0
#include "config/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "config/schema.h"

namespace smd::config {
namespace {

constexpr std::size_t kWidth = 98;

/// Lines of at most `kWidth` letters, each behind `lead`.
std::string wrapped(std::string_view text, std::string_view lead) {
  std::string out;
  std::string line;
  const auto flush = [&] {
    out += fmt::format("{}{}\n", lead, line);
    line.clear();
  };
  while (!text.empty()) {
    const auto word = text.substr(0, text.find(' '));
    if (!line.empty() && lead.size() + line.size() + 1 + word.size() > kWidth) flush();
    line += line.empty() ? "" : " ";
    line += word;
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  flush();
  return out;
}

/// Up to the first full stop or colon that ends a clause, without it.
std::string_view first_clause(std::string_view doc) {
  const auto end = std::min({doc.find(". "), doc.find(": "), doc.size() - 1});
  return doc.substr(0, end);
}

std::string describe_key(const Key& key, const Settings& settings) {
  static constexpr std::string_view kUnset = "\"\"";
  const auto value = key.show(settings);
  const bool changed = value != key.show(Settings{});
  const auto meaning = key.explain ? key.explain(settings) : std::string();
  const auto shown = fmt::format("{} {} = {}", changed ? '*' : ' ', key.name, shortened(value));
  auto line = fmt::format("{:<42}  {}", shown, value == kUnset ? "not given" : meaning);
  if (meaning.empty() && value != kUnset) line += first_clause(key.doc);
  if (changed) line += fmt::format(" (default {})", key.show(Settings{}));
  return line + "\n";
}

std::string describe_table(const Schema& schema, std::string_view table, const Settings& settings) {
  auto out = fmt::format("[{}]\n", table);
  for (const auto* key : schema.keys_of(table)) out += describe_key(*key, settings);
  return out;
}

/// The keys of `table` that differ, by their whole names: [lids] stands nowhere on the screen.
void add_changed(const Schema& schema, std::string_view table, const Settings& settings, Changed& into) {
  for (const auto* key : schema.keys_of(table)) {
    const auto value = key->show(settings);
    const auto usual = key->show(Settings{});
    if (value == usual) continue;
    ++into.keys;
    const auto shown = fmt::format("  {} = {}", key->path(), shortened(value));
    const auto meaning = key->explain ? key->explain(settings) : std::string();
    into.text += fmt::format("{:<42}  {}{}(default {})\n", shown, meaning, meaning.empty() ? "" : " ", usual);
  }
}

std::string place_of(const SubnetConfig& subnet) {
  if (subnet.port_guid) return fmt::format("on the port with GUID {}", *subnet.port_guid);
  return subnet.port.empty() ? "on the first usable port" : fmt::format("on port {}", subnet.port);
}

std::string heading_of(const SubnetConfig& subnet) {
  return fmt::format("subnet {}, {}\n", subnet.name.empty() ? "named by its port's GUID" : subnet.name,
                     place_of(subnet));
}

/// Markdown ends a table cell at '|'.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

}  // namespace

std::string shortened(std::string value) {
  constexpr std::size_t kLongest = 60;
  if (value.size() <= kLongest) return value;
  return value.substr(0, kLongest) + "...";
}

std::string describe(const Config& config) {
  const auto schema = make_schema();
  std::string out;
  for (const auto& table : schema.tables) {
    if (!table.of_process) continue;
    out += (out.empty() ? "" : "\n") +
           describe_table(schema, table.name, {.log = config.log, .api = config.api, .store = config.store});
  }
  for (const auto& subnet : config.subnets) {
    out += "\n" + heading_of(subnet);
    for (const auto& table : schema.tables) {
      if (table.of_process || table.name == "subnet") continue;
      out += describe_table(schema, table.name, {.subnet = subnet});
    }
  }
  return out;
}

Changed describe_changed(const Config& config) {
  const auto schema = make_schema();
  Changed found;
  for (const auto& table : schema.tables) {
    if (!table.of_process) continue;
    add_changed(schema, table.name, {.log = config.log, .api = config.api, .store = config.store}, found);
  }
  for (const auto& subnet : config.subnets) {
    found.text += heading_of(subnet);
    for (const auto& table : schema.tables) {
      if (!table.of_process && table.name != "subnet")
        add_changed(schema, table.name, {.subnet = subnet}, found);
    }
  }
  return found;
}

std::string schema_markdown() {
  const auto schema = make_schema();
  std::string out =
      "# Configuration: every key of smd.toml\n\n"
      "This file is made from the schema in `config/`; a test compares the two.\n\n"
      "No file at all is a good configuration. Times are written `\"200ms\"`, `\"10s\"`, `\"1m\"`; file "
      "names are\n"
      "relative to the folder of smd.toml. `--set TABLE.KEY=VALUE` overrides one key for one run, in every "
      "subnet; a\n"
      "list is written with commas. `smd check` shows what a configuration means. The last column names "
      "OpenSM's\n"
      "option of the same meaning; its values may be written in another way.\n";
  for (const auto& table : schema.tables) {
    out += fmt::format("\n## {}\n\n{}\n", heading(table.name), wrapped(table.doc, ""));
    out += "| key | default | allowed | meaning | OpenSM |\n|---|---|---|---|---|\n";
    for (const auto* key : schema.keys_of(table.name)) {
      out += fmt::format("| `{}` | `{}` | {} | {} | {} |\n", key->name, cell(key->show(Settings{})),
                         cell(key->allowed), cell(key->doc),
                         key->opensm.empty() ? "" : fmt::format("`{}`", key->opensm));
    }
  }
  return out;
}

std::string shipped_file() {
  const auto schema = make_schema();
  std::string out =
      "# smd's configuration. Every key stands here with its default, commented out: without the '#' the "
      "line\n"
      "# changes nothing, so uncomment it and change its value. `smd check` says what a file means and what "
      "is\n"
      "# wrong with it. Times are written \"200ms\", \"10s\", \"1m\"; file names are relative to this file's "
      "folder.\n";
  for (const auto& table : schema.tables) {
    const bool repeated = table.name == "subnet";
    out += "\n" + wrapped(table.doc, "# ");
    out += repeated ? "#[[subnet]]\n" : fmt::format("[{}]\n", table.name);
    for (const auto* key : schema.keys_of(table.name)) {
      auto text = std::string(key->doc);
      if (!key->allowed.empty()) text += fmt::format(" Allowed: {}.", key->allowed);
      out += wrapped(text, "# ");
      out += fmt::format("#{} = {}\n", key->name, key->show(Settings{}));
    }
  }
  return out;
}

}  // namespace smd::config
