// SPDX-License-Identifier: Apache-2.0
// Foreign questions to subnet administration: the bytes behind the common header's class.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "smd/sa/answer.h"
#include "tests/support/sa_lab.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smd;
  static const test::SaLab kLab("ft2:4");
  std::vector<std::uint8_t> mad(std::max(size, wire::kMadBytes));
  std::copy_n(data, size, mad.begin());
  mad[0] = 1;
  mad[1] = static_cast<std::uint8_t>(wire::MgmtClass::sa);
  mad[2] = size % 16 == 0 ? mad[2] : wire::kSaClassVersion;
  const auto reply = sa::answer(&kLab.directory(), {}, {.sm_key = 1}, mad);
  if (!reply) return 0;
  // Whatever was asked, what goes out is an answer to it; a Trap's is the one without the bit of responses.
  const auto method = static_cast<wire::Method>((*reply)[3]);
  const bool answers = wire::is_response(method) || method == wire::Method::trap_repress;
  if (!answers || reply->size() < wire::kSaDataOffset) {
    __builtin_trap();
  }
  return 0;
}
