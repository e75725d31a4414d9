// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/run.h"

#include <malloc.h>

#include <algorithm>
#include <ostream>
#include <thread>
#include <utility>

#include "smd/daemon/configuration.h"
#include "smd/daemon/daemon.h"
#include "smd/daemon/run_specs.h"

namespace smd::cli {
namespace {

int fail(std::ostream& err, const daemon::Failure& failure) {
  err << failure.text << '\n';
  return failure.status;
}

/// Each thread would get an arena of its own, and of those other than the first malloc_trim() leaves the free
/// end: large changes of partitions left a hundred megabytes there.
void limit_arenas() {
  constexpr int kArenas = 4;
  mallopt(M_ARENA_MAX, kArenas);
}

}  // namespace

int run(const RunOptions& options, std::ostream& out, std::ostream& err) {
  limit_arenas();
  if (options.wait && !options.once && !options.dry_run)
    return fail(err, {2, "--wait: only with --once or --dry-run, a daemon waits for as long as it takes"});
  auto dumps = options.dump.empty() ? sm::DumpList{} : sm::parse_dump_list(options.dump, "--dump");
  if (!dumps) return fail(err, {2, dumps.error()});
  const auto file = daemon::configuration_file(options.config);
  auto config = daemon::load_configuration(file, options.set, !options.once && !options.dry_run);
  if (!config) return fail(err, config.error());
  auto specs = daemon::instance_specs(options, *config);
  if (!specs) return fail(err, specs.error());
  auto log = log::Log::open(config->log);
  if (!log) return fail(err, {2, log.error()});
  unsigned threads = 0;
  for (const auto& spec : *specs) threads = std::max(threads, spec.config.routing.threads);
  // One subnet's long computation must not keep the others from theirs.
  if (threads == 0)
    threads = std::max(std::thread::hardware_concurrency(), static_cast<unsigned>(specs->size()));
  daemon::Daemon process({.options = options,
                          .config = std::move(*config),
                          .config_file = file,
                          .dumps = std::move(*dumps),
                          .log = std::move(*log),
                          .out = out,
                          .err = err},
                         threads);
  return process.run(std::move(*specs));
}

}  // namespace smd::cli
