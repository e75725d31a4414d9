// SPDX-License-Identifier: Apache-2.0
// opensm-lfts.dump, opensm.fdbs and what dump_fts prints, from foreign bytes: tables or errors, never a
// crash.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "smd/dump/lft_dump.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto dump = smd::sm::read_lfts(std::string_view(reinterpret_cast<const char*>(data), size), "x");
  if (dump) {
    if (dump->rows.empty()) std::abort();
    for (const auto& [sw, row] : dump->rows) {
      if (sw == smd::Guid{} || row == nullptr || row->size() % smd::routing::kLftBlock != 0) std::abort();
    }
    return 0;
  }
  if (dump.error().empty()) std::abort();
  for (const auto& error : dump.error()) {
    const auto line = smd::base::to_string(error);
    if (!line.starts_with("x:") || line.find('\n') != std::string::npos) std::abort();
  }
  return 0;
}
