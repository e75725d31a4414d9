// SPDX-License-Identifier: Apache-2.0
#include "tests/support/source_file.h"

namespace smd::test {

std::string source_file(std::string_view name) { return std::string(SMD_SOURCE_DIR "/").append(name); }

}  // namespace smd::test
