// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/check.h"

#include <ostream>

#include "config/describe.h"
#include "smd/cli/configuration.h"

namespace smd::cli {

int check(const CheckOptions& options, std::ostream& out, std::ostream& err) {
  const auto file = configuration_file(options.config);
  const auto config = load_configuration(file, options.set);
  if (!config) {
    err << config.error().text << '\n';
    return config.error().status;
  }
  out << (file.empty() ? "no configuration file: the defaults\n" : file + ": good\n")
      << config::describe(*config);
  return 0;
}

}  // namespace smd::cli
