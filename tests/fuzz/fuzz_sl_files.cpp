// SPDX-License-Identifier: Apache-2.0
// path-sl.txt, sl2vl.txt and opensm-sl2vl.dump from foreign bytes: contents or errors, never a crash.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "mad/base/sl_files.h"

namespace {

void expect_lines(const smd::base::FileErrors& errors) {
  if (errors.empty()) std::abort();
  for (const auto& error : errors) {
    const auto line = smd::base::to_string(error);
    if (!line.starts_with("x:") || line.find('\n') != std::string::npos) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto paths = smd::base::read_path_sl(text, "x"); !paths) expect_lines(paths.error());
  if (const auto maps = smd::base::read_sl_to_vl(text, "x"); !maps) expect_lines(maps.error());
  return 0;
}
