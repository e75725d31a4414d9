// SPDX-License-Identifier: Apache-2.0
// Any bytes: read_fabric says what is wrong, or gives a fabric that is written and read back the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "mad/base/bug.h"
#include "mad/base/fabric_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smd::base;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto include = [](std::string_view) -> std::expected<std::string, std::string> {
    return "Ca 1 \"i\"\n";
  };
  const auto fabric = read_fabric(text, "fuzz", include);
  if (!fabric) {
    SMD_ASSERT(!fabric.error().empty());
    return 0;
  }
  const auto written = write_fabric(*fabric);
  const auto again = read_fabric(written, "again");
  SMD_ASSERT(again.has_value());
  SMD_ASSERT(write_fabric(*again) == written);
  return 0;
}
