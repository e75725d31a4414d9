// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "config/describe.h"
#include "config/describe_blocks.h"
#include "config/document_text.h"

namespace smd::config {
namespace {

std::string table_section(const Schema& schema, const TableDoc& table) {
  auto out = fmt::format(".SH {}\n{}\n", heading(table.name), roff(table.doc));
  for (const auto* key : schema.plain_keys_of(table.name)) {
    out += fmt::format(".TP\n.B {}\n{}\n", roff(key->name), roff(key->doc));
    out += fmt::format("Allowed: {}. Default: {}.", roff(allowed_in_documents(*key)),
                       roff(key->show(Settings{})));
    out += key->opensm.empty() ? "\n" : fmt::format(" OpenSM: {}.\n", roff(key->opensm));
  }
  return out;
}

}  // namespace

std::string schema_man(const Schema& schema) {
  std::string out =
      ".\\\" SPDX-License-Identifier: Apache-2.0\n"
      ".\\\" Made from the schema in config/; a test compares the two.\n"
      ".TH SMD.TOML 5 \"\" \"smd\" \"File formats\"\n"
      ".SH NAME\nsmd.toml \\- configuration of the InfiniBand subnet manager smd\n"
      ".SH DESCRIPTION\n"
      "A file in TOML, by default /etc/smd/smd.toml. No file at all is a good configuration. Times are "
      "written\n"
      "\"200ms\", \"10s\", \"1m\"; names of files are relative to the folder of the file.\n"
      ".PP\n"
      ".B smd check\nsays what a configuration means, and all that is wrong with it.\n"
      ".B smd run \\-\\-set\n.I TABLE.KEY=VALUE\n"
      "overrides one key for one run, in every subnet; a list is written with commas.\n"
      ".PP\nAfter each key stands what is allowed, its default, and OpenSM's option of the same meaning, "
      "whose "
      "values\nmay be written in another way.\n";
  for (const auto& [table, array] : schema.sections())
    out += array != nullptr ? blocks_man(*array) : table_section(schema, *table);
  return out + ".SH SEE ALSO\n.BR smd (8)\n";
}

}  // namespace smd::config
