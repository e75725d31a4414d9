// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows of the schema that name a file, which is read with the configuration.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/rows.h"
#include "config/scalars.h"
#include "mad/base/file_error.h"

namespace smd::config {

/// Appends `errors` to `into`; FileErrors get no key.
inline void add_errors(std::vector<ConfigError>& into, const std::vector<ConfigError>& errors) {
  into.insert(into.end(), errors.begin(), errors.end());
}
/// The same of a reader in `mad/base`: file, line and text, the text as ConfigError::expected.
inline void add_errors(std::vector<ConfigError>& into, const base::FileErrors& errors) {
  for (const auto& error : errors)
    into.push_back({.file = error.file, .line = error.line, .expected = error.what});
}

/// Members of a table of a subnet that such a row sets.
template <class Table, class Contents>
struct FileMembers {
  Table SubnetConfig::* table;
  std::string Table::* name;   ///< the file's path; empty: there is none
  Contents Table::* contents;  ///< as it is made where there is none
};

/// A row whose value is the name of a file. `parse`: (bytes, path) -> the contents, or errors; `explain`:
/// what the table has from it, for `smd check`. A wrong file sets nothing.
template <class Table, class Contents, class Parse, class Explain>
Key file_key(const About& about, FileMembers<Table, Contents> members, Parse parse, Explain explain) {
  Key key{.table = about.table, .name = about.name, .opensm = about.opensm, .doc = about.doc};
  key.form = Form::text;
  key.allowed = "a file's name";
  key.read = [=](const Value& value, const Spot& spot, Settings& into) {
    if (value.kind != Value::Kind::text) return spot.wrong(value, "the name of a file");
    auto& table = into.subnet.*members.table;
    table.*members.name = {};
    table.*members.contents = {};
    if (value.text.empty()) return;
    const auto bytes = spot.contents(value);
    if (!bytes) return;
    const auto path = spot.resolve(value.text).string();
    auto contents = parse(*bytes, path);
    if (!contents) return add_errors(spot.errors, contents.error());
    table.*members.name = path;
    table.*members.contents = *std::move(contents);
  };
  key.show = [=](const Settings& from) { return toml_quoted((from.subnet.*members.table).*members.name); };
  key.explain = [=](const Settings& from) { return explain(from.subnet.*members.table); };
  return key;
}

}  // namespace smd::config
