// SPDX-License-Identifier: Apache-2.0
// Arrays of tables in the documents that are made from the schema.
#include <fmt/format.h>

#include "config/describe_blocks.h"
#include "config/document_text.h"
#include "config/schema.h"

namespace smd::config {

std::string blocks_doc(const Key& array) {
  if (array.form == Form::blocks) return std::string(array.doc);
  return fmt::format("`{}` of [{}], with a block for each item instead of one line for all.", array.name,
                     array.table);
}

std::string blocks_note(const Key& array) {
  if (product_schema().of_process(array.table)) return heading(array) + " may be repeated.";
  const auto inside = array.table.empty() ? "[[subnet]]" : fmt::format("[subnet.{}]", array.table);
  return fmt::format(
      "{0} may be repeated. [[subnet.{1}]] inside of [[subnet]] replaces the whole list for that subnet, and "
      "`{2} = []` in {3} empties it.",
      heading(array), array.path(), array.name, inside);
}

std::string allowed_in_documents(const Key& key) {
  return key.is_array() ? fmt::format("{}; or {} blocks", key.allowed, heading(key)) : key.allowed;
}

std::string blocks_markdown(const Key& array) {
  auto out = fmt::format("\n## {}\n\n{}\n{}\n", heading(array), wrapped(blocks_doc(array), ""),
                         wrapped(blocks_note(array), ""));
  out += "| key | default | allowed | meaning | OpenSM |\n|---|---|---|---|---|\n";
  for (const auto& key : array.block_keys) {
    out += fmt::format("| `{}` | {} | {} | {} | {} |\n", key.name,
                       key.required ? "required" : fmt::format("`{}`", cell(key.value)), cell(key.allowed),
                       cell(key.doc), key.opensm.empty() ? "" : fmt::format("`{}`", key.opensm));
  }
  return out;
}

std::string blocks_man(const Key& array) {
  auto out =
      fmt::format(".SH {}\n{}\n.PP\n{}\n", heading(array), roff(blocks_doc(array)), roff(blocks_note(array)));
  for (const auto& key : array.block_keys) {
    out += fmt::format(".TP\n.B {}\n{}\nAllowed: {}. ", roff(key.name), roff(key.doc), roff(key.allowed));
    out += key.required ? "Required." : fmt::format("Default: {}.", roff(key.value));
    out += key.opensm.empty() ? "\n" : fmt::format(" OpenSM: {}.\n", roff(key.opensm));
  }
  return out;
}

std::string blocks_example(const Key& array) {
  auto out = "\n" + wrapped(blocks_doc(array), "# ") + wrapped(blocks_note(array) + " An example:", "# ");
  out += fmt::format("#   {}\n", heading(array));
  for (const auto& key : array.block_keys) out += fmt::format("#   {} = {}\n", key.name, key.example);
  for (const auto& key : array.block_keys) {
    const auto need = key.required ? " Required." : fmt::format(" Default: {}.", key.value);
    out += wrapped(fmt::format("{}: {} Allowed: {}.{}", key.name, key.doc, key.allowed, need), "# ");
  }
  return out;
}

}  // namespace smd::config
