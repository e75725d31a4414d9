// SPDX-License-Identifier: Apache-2.0
// Any text behind a small spec: the suffixes are refused with the text in front, or give a fabric that is
// written and read back, the same a second time.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "mad/base/bug.h"
#include "mad/base/fabric_file.h"
#include "mad/base/fabric_spec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smd::base;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto spec = "ft2:4+" + std::string(input);
  const auto fabric = make_fabric(spec);
  if (!fabric) {
    SMD_ASSERT(fabric.error().starts_with(spec + ": "));
    return 0;
  }
  SMD_ASSERT(make_fabric(spec) == fabric);
  SMD_ASSERT(read_fabric(write_fabric(*fabric), "again").has_value());
  return 0;
}
