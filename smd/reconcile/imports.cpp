// SPDX-License-Identifier: Apache-2.0
#include "smd/reconcile/imports.h"

#include <memory>
#include <string_view>

#include "mad/base/m_key_file.h"

namespace smd::sm::inline reconciling {
namespace {

void log_failed_import(const log::Log& log, std::string_view event, const base::FileErrors& errors,
                       std::string_view what) {
  log.warn(event)
      .kv("reason", base::to_string(errors.front()))
      .kv("errors", errors.size())
      .kv("action", what)
      .always();
}

}  // namespace

void import_lids(Reconciler& loop, const std::string& file, const log::Log& log) {
  const auto lids = base::load_lids(file);
  if (!lids) return log_failed_import(log, "lid.import_failed", lids.error(), "no LID is taken from it");
  loop.set_stored(std::make_shared<const Stored>(with_lids(*loop.stored(), *lids)));
  log.info("lid.imported").kv("file", file).kv("ports", loop.stored()->lids.size()).always();
}

void import_m_keys(Reconciler& loop, const std::string& file, const log::Log& log) {
  const auto keys = base::load_m_keys(file);
  if (!keys) return log_failed_import(log, "m_key.import_failed", keys.error(), "no M_Key is taken from it");
  auto stored = std::make_shared<Stored>(*loop.stored());
  for (const auto& [port, key] : *keys)
    stored->m_keys[port] = {.key = key, .before = 0, .node = port, .port = {}};
  loop.set_stored(std::move(stored));
  log.info("m_key.imported").kv("file", file).kv("ports", keys->size()).always();
}

}  // namespace smd::sm::inline reconciling
