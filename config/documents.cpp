// SPDX-License-Identifier: Apache-2.0
// The documents that are made from the schema, man page apart.
#include <fmt/format.h>

#include "config/describe.h"
#include "config/describe_blocks.h"
#include "config/document_text.h"

namespace smd::config {
namespace {

std::string table_markdown(const Schema& schema, const TableDoc& table) {
  auto out = fmt::format("\n## {}\n\n{}\n", heading(table.name), wrapped(table.doc, ""));
  out += "| key | default | allowed | meaning | OpenSM |\n|---|---|---|---|---|\n";
  for (const auto* key : schema.plain_keys_of(table.name)) {
    out += fmt::format("| `{}` | `{}` | {} | {} | {} |\n", key->name, cell(key->show(Settings{})),
                       cell(allowed_in_documents(*key)), cell(key->doc),
                       key->opensm.empty() ? "" : fmt::format("`{}`", key->opensm));
  }
  return out;
}

std::string table_lines(const Schema& schema, const TableDoc& table) {
  auto out = "\n" + wrapped(table.doc, "# ");
  out += table.name == "subnet" ? "#[[subnet]]\n" : fmt::format("[{}]\n", table.name);
  for (const auto* key : schema.plain_keys_of(table.name)) {
    out += wrapped(fmt::format("{} Allowed: {}.", key->doc, allowed_in_documents(*key)), "# ");
    out += fmt::format("#{} = {}\n", key->name, key->show(Settings{}));
  }
  return out;
}

}  // namespace

std::string schema_markdown(const Schema& schema) {
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
  for (const auto& [table, array] : schema.sections())
    out += array != nullptr ? blocks_markdown(*array) : table_markdown(schema, *table);
  return out;
}

std::string shipped_file(const Schema& schema) {
  std::string out =
      "# smd's configuration. Every key stands here with its default, commented out: without the '#' the "
      "line\n"
      "# changes nothing, so uncomment it and change its value. `smd check` says what a file means and what "
      "is\n"
      "# wrong with it. Times are written \"200ms\", \"10s\", \"1m\"; file names are relative to this file's "
      "folder.\n"
      "# Indented blocks under [[...]] are examples.\n";
  for (const auto& [table, array] : schema.sections())
    out += array != nullptr ? blocks_example(*array) : table_lines(schema, *table);
  return out;
}

}  // namespace smd::config
