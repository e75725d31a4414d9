// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/dump_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string_view>
#include <vector>

#include "mad/base/file.h"
#include "smd/api/client.h"
#include "smd/api/router.h"
#include "smd/api/tar.h"
#include "smd/dump/dumps.h"
#include "smd/dump/new_file.h"

namespace smd::cli {
namespace {

/// What the daemon sends, file after file.
class DumpFiles {
 public:
  explicit DumpFiles(const sm::Folder& folder) : folder_(folder) {}

  Done begin(const std::string& name) {
    const bool ours = std::ranges::any_of(sm::dump_formats(), [&](const auto& f) { return f.name == name; });
    if (!ours) return std::unexpected(fmt::format("the answer holds a file {}, which is no dump", name));
    file_.emplace(folder_, name);
    return done(file_->ok());
  }
  Done bytes(std::string_view piece) { return done(file_->write(piece)); }
  Done end() {
    const bool finished = file_->finish();
    if (finished) written.push_back(file_->path());
    return done(finished);
  }
  std::vector<std::filesystem::path> written;

 private:
  Done done(bool good) const { return good ? Done{} : std::unexpected(file_->error()); }
  const sm::Folder& folder_;
  std::optional<sm::NewFile> file_;
};

Done dump_one(const Conversation& daemon, const std::string& subnet, const sm::Folder& folder,
              const std::string& list, std::ostream& out) {
  DumpFiles files(folder);
  api::TarReader reader({.begin = [&](const std::string& name) { return files.begin(name); },
                         .bytes = [&](std::string_view piece) { return files.bytes(piece); },
                         .end = [&] { return files.end(); }});
  const auto query = list.empty() ? "" : "?files=" + api::percent_encoded(list);
  const auto reply = api::ask(
      daemon.socket(), "GET", path_of(subnet, "dump") + query, {},
      [&](std::string_view piece) { return reader.take(piece); }, daemon.timeout());
  if (!reply) return std::unexpected(reply.error().text);
  if (reply->status / 100 != 2) return std::unexpected(message_of(*reply));
  if (auto whole = reader.finish(); !whole) return whole;
  for (const auto& path : files.written) out << path.string() << '\n';
  return {};
}

}  // namespace

Done dump_command(const Conversation& daemon, const std::string& folder, const std::string& list,
                  std::ostream& out) {
  auto into = sm::Folder::open(folder, sm::Folder::Links::refuse);
  if (!into) return std::unexpected(into.error());
  return daemon.each([&](const std::string& name, bool several) -> Done {
    if (!several) return dump_one(daemon, name, *into, list, out);
    const auto inner = into->inner(base::file_name_of(name));
    return inner ? dump_one(daemon, name, *inner, list, out) : std::unexpected(inner.error());
  });
}

}  // namespace smd::cli
