// SPDX-License-Identifier: Apache-2.0
// Dumps go to the asking client, which writes them with its own rights: the daemon's own folders are few.
#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "smd/api/handlers.h"
#include "smd/api/not_master.h"
#include "smd/dump/dumps.h"

namespace smd::api {
namespace {

/// Dumps may be larger than what a /tmp in memory takes.
std::filesystem::path scratch() {
  const char* given = std::getenv("TMPDIR");
  return given != nullptr && *given != '\0' ? given : "/var/tmp";
}

}  // namespace

Answer get_dump(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto named = question.query.find("files");
  auto list = named == question.query.end() ? sm::DumpList{} : sm::parse_dump_list(named->second, "files");
  if (!list) return error_of(400, "bad_query", list.error());
  const auto& snapshot = chosen->view->snapshot;
  if (!snapshot) return not_read(*chosen->view);
  if (!snapshot->decided.routes)
    return error_of(409, "nothing_decided",
                    fmt::format("{}: no routes were decided yet", question.part("subnet")));
  if (list->empty()) list = sm::default_dumps(snapshot->decided.routes->layers.count > 1);
  const auto turn = backend.dump_turn();
  if (!turn.owns_lock()) return error_of(503, "busy", "another dump is being made: try again later");
  auto folder = (scratch() / "smd-dump-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr)
    return error_of(500, "no_space", fmt::format("{}: {}", scratch().string(), std::strerror(errno)));
  std::vector<std::string> names;
  for (const auto* format : *list) names.emplace_back(format->name);
  const sm::DumpView view(*snapshot->subnet, snapshot->decided, {}, sm::Marks::not_written);
  const auto written = sm::write_dumps(folder, *list, view, backend.parallel());
  auto bundle = std::make_shared<const Bundle>(folder, std::move(names));  // what was made goes in any case
  if (!written) return error_of(500, "no_space", written.error());
  return {.status = 200, .body = {}, .bundle = std::move(bundle), .allow = {}};
}

}  // namespace smd::api
