// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/check.h"

#include <fmt/format.h>

#include <ostream>
#include <set>
#include <string>

#include "config/describe.h"
#include "mad/base/lid_file.h"
#include "smd/cli/check_partitions.h"
#include "smd/daemon/configuration.h"

namespace smd::cli {
namespace {

/// Checks files that the daemon reads later, where it goes on without them if they are wrong.
bool good_imports(const config::Config& config, std::ostream& err) {
  std::set<std::string> files{config.base.lids.import_guid2lid};
  for (const auto& subnet : config.subnets) files.insert(subnet.lids.import_guid2lid);
  files.erase("");
  bool good = true;
  for (const auto& file : files) {
    const auto lids = base::load_lids(file);
    if (lids) continue;
    good = false;
    for (const auto& error : lids.error()) err << base::to_string(error) << '\n';
  }
  return good;
}

std::string summary(std::size_t changed) {
  if (changed == 0) return "all keys have their defaults";
  return fmt::format("{} {} the default{}", changed, changed == 1 ? "key differs from" : "keys differ from",
                     changed == 1 ? "" : "s");
}

}  // namespace

int check(const CheckOptions& options, std::ostream& out, std::ostream& err) {
  const auto file = daemon::configuration_file(options.config);
  const auto config = daemon::load_configuration(file, options.set);
  if (!config) {
    err << config.error().text << '\n';
    return config.error().status;
  }
  for (const auto& warning : config->warnings) err << config::to_string(warning) << '\n';
  if (!good_imports(*config, err)) return 2;
  const auto changed = config::describe_changed(*config);
  out << (file.empty() ? "no configuration file" : file + ": good") << ": " << summary(changed.keys) << '\n'
      << (options.all ? config::describe(*config) : changed.text);
  print_configured_partitions(out, *config);
  return 0;
}

}  // namespace smd::cli
