// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace smd::test {

/// The path of a file or folder of the source tree; `name` is its path from the root of the repository. A
/// function of one small object: the tests themselves are compiled alike in every clone, so that ccache finds
/// them.
std::string source_file(std::string_view name);

}  // namespace smd::test
