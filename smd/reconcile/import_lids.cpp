// SPDX-License-Identifier: Apache-2.0
#include "smd/reconcile/import_lids.h"

#include <memory>

namespace smd::sm::inline reconciling {

void import_lids(Reconciler& loop, const std::string& file, const log::Log& log) {
  const auto lids = base::load_lids(file);
  if (!lids) {
    log.warn("lid.import_failed")
        .kv("reason", base::to_string(lids.error().front()))
        .kv("errors", lids.error().size())
        .kv("action", "no LID is taken from it")
        .always();
    return;
  }
  loop.set_stored(std::make_shared<const Stored>(with_lids(*loop.stored(), *lids)));
  log.info("lid.imported").kv("file", file).kv("ports", loop.stored()->lids.size()).always();
}

}  // namespace smd::sm::inline reconciling
