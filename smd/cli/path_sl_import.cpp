// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/path_sl_import.h"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "mad/wire/sa/path_record.h"
#include "mad/wire/sa/records.h"

namespace smd::cli {
namespace {

struct SourcePort {
  Guid node, port;
  Lid lid;
};

/// Ports of CAs and routers, with LIDs.
std::vector<SourcePort> sources_of(const mad::SaRecords& nodes) {
  std::vector<SourcePort> sources;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto lid = nodes.get<wire::NodeRecordId>(i).lid;
    const auto info = nodes.get<wire::NodeInfo>(i, wire::NodeRecordId::kAttributeAt);
    if (info.type == NodeType::switch_ || lid == Lid{} || lid > kLastUnicastLid) continue;
    sources.push_back({.node = info.node, .port = info.port, .lid = lid});
  }
  return sources;
}

mad::SaQuery paths_from(const mad::LidRoute& sa, Lid source, std::chrono::milliseconds wait) {
  wire::PathRecord wanted;
  wanted.slid = source;
  mad::SaQuery query{.to = sa,
                     .attribute = wire::PathRecord::kRecord,
                     .mask = std::uint64_t{1} << wire::PathRecord::kSlid,
                     .least = wire::PathRecord::kBytes,
                     .wait = wait,
                     .tries = mad::kSaTries};
  query.record.resize(wire::PathRecord::kBytes);
  wire::encode_over(wanted, query.record);
  return query;
}

/// The SL of the first path to each LID.
std::uint64_t add_paths(const mad::SaRecords& paths, std::vector<std::uint8_t>& row) {
  std::uint64_t added = 0;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const auto path = paths.get<wire::PathRecord>(i);
    if (path.dlid == Lid{} || path.dlid > kLastUnicastLid) continue;
    if (row.size() <= path.dlid.value()) row.resize(path.dlid.value() + 1U, base::kNoSlSaid);
    auto& said = row[path.dlid.value()];
    if (said != base::kNoSlSaid) continue;
    said = path.sl.value();
    ++added;
  }
  return added;
}

}  // namespace

asio::awaitable<std::expected<ImportedPathSls, std::string>> ask_path_sls(mad::SaClient* client,
                                                                          mad::LidRoute sa,
                                                                          std::chrono::milliseconds wait) {
  const auto nodes = co_await client->get_table({.to = sa,
                                                 .attribute = wire::NodeRecordId::kRecord,
                                                 .least = wire::NodeRecordId::kRecordBytes,
                                                 .wait = wait,
                                                 .tries = mad::kSaTries});
  if (!nodes) co_return std::unexpected(fmt::format("NodeRecord of all ports: {}", to_string(nodes.error())));
  const auto sources = sources_of(*nodes);
  std::map<Guid, unsigned> ports_of;
  for (const auto& source : sources) ++ports_of[source.node];
  ImportedPathSls found;
  found.sources = sources.size();
  for (const auto& source : sources) {
    const auto paths = co_await client->get_table(paths_from(sa, source.lid, wait));
    if (!paths)
      co_return std::unexpected(
          fmt::format("PathRecord from LID {}: {}", source.lid, to_string(paths.error())));
    auto& row = found.file[ports_of[source.node] == 1 ? source.node : source.port];
    const auto added = add_paths(*paths, row);
    found.paths += added;
    found.without += added == 0 ? 1U : 0U;
  }
  co_return found;
}

}  // namespace smd::cli
