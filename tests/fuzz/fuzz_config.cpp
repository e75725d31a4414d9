// SPDX-License-Identifier: Apache-2.0
// smd.toml, --set and the files that they name, from foreign bytes: an answer or errors, never a crash.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "config/describe.h"
#include "config/difference.h"
#include "config/load.h"
#include "tests/unit/config/item_schema.h"

namespace {

/// The text up to the first NUL is the file, each one after it an override.
struct Input {
  std::string text;
  std::vector<std::string> overrides;
};

Input split(std::string_view bytes) {
  Input input{.text = std::string(bytes.substr(0, bytes.find('\0'))), .overrides = {}};
  while (bytes.find('\0') != std::string_view::npos) {
    bytes.remove_prefix(bytes.find('\0') + 1);
    input.overrides.emplace_back(bytes.substr(0, bytes.find('\0')));
  }
  return input;
}

void try_schema(const Input& input, const smd::config::ConfigContext& context,
                const smd::config::Schema& schema) {
  using namespace smd::config;
  const auto config = load_text(input.text, "smd.toml", input.overrides, context, schema);
  if (config) {
    if (describe(*config, schema).empty() || config->subnets.empty()) std::abort();
    for (const auto& subnet : config->subnets) {
      if (!differences(subnet, subnet, schema).empty()) std::abort();
      static_cast<void>(differences(config->base, subnet, schema));
    }
    return;
  }
  for (const auto& error : config.error()) {
    const auto line = to_string(error);
    if (line.find('\n') != std::string::npos || line.find('\0') != std::string::npos) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smd::config;
  const auto input = split(std::string_view(reinterpret_cast<const char*>(data), size));
  ConfigContext context;
  context.engines = {"auto", "dmodc", "minhop", "updn"};
  // Whatever file is named holds the same bytes: the readers of lists and maps see them too.
  context.read = [&](const std::filesystem::path&) -> std::expected<std::string, std::string> {
    return input.text;
  };
  try_schema(input, context, product_schema());
  try_schema(input, context, item_schema());
  return 0;
}
