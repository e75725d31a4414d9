// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/path/path_query.h"

#include <algorithm>
#include <expected>
#include <span>
#include <utility>
#include <vector>

#include "mad/wire/sa/trace_record.h"
#include "smd/sa/path/limits.h"
#include "smd/sa/path/trace.h"
#include "smd/sa/registry/aliases.h"
#include "smd/sa/registry/group_parameters.h"
#include "smd/sweep/end_ports.h"

namespace smd::sa {
namespace {

using Record = wire::PathRecord;
using Multi = wire::MultiPathRecord;

/// Pairs of ports that a Get looks at.
constexpr std::size_t kMostPairs = 65'536;

/// Codes that mean no MTU or no rate.
bool makes_no_sense(const PathQuery& query) {
  return (query.mtu && bytes(query.mtu->value) == 0) || (query.rate && rate_mbps(query.rate->value) == 0);
}

/// What PathRecord and MultiPathRecord have in common.
template <class Asked>
PathQuery query_of(const Request& request, const Asked& asked) {
  PathQuery query;
  if (request.has(Asked::kPKey)) query.constraints.pkey = asked.pkey;
  if (request.has(Asked::kQosClass)) query.constraints.qos_class = asked.qos_class;
  if (request.has(Asked::kSl)) query.constraints.sl = asked.sl;
  query.mtu = limit_of(request, Asked::kMtuSelector, Asked::kMtu, asked.mtu_selector, asked.mtu);
  query.rate = limit_of(request, Asked::kRateSelector, Asked::kRate, asked.rate_selector, asked.rate);
  query.life = limit_of(request, Asked::kLifeSelector, Asked::kLife, asked.life_selector, asked.life);
  query.reversible = request.has(Asked::kReversible) && asked.reversible;
  if (request.mad.method != wire::Method::get) query.paths = request.has(Asked::kPaths) ? asked.paths : 127U;
  return query;
}

PathQuery path_query(const Request& request, const Record& asked) {
  auto query = query_of(request, asked);
  if (request.has(Record::kServiceId) || request.has(Record::kServiceId + 1))
    query.constraints.service_id = asked.service_id;
  if (request.has(Record::kSlid)) query.slid = asked.slid;
  if (request.has(Record::kDlid)) query.dlid = asked.dlid;
  return query;
}

PathQuery multi_query(const Request& request, const Multi& asked) {
  auto query = query_of(request, asked);
  if (request.has(Multi::kServiceIdHigh) || request.has(Multi::kServiceIdLow)) {
    query.constraints.service_id = std::uint64_t{asked.service_id_high} << 56U | asked.service_id_low;
  }
  query.of_all = true;
  query.independent = request.has(Multi::kIndependence) && asked.independence == 1;
  return query;
}

/// The router by which another subnet is reached.
const EndPort* router_to(const PathContext& context, std::uint64_t prefix) {
  for (const auto& route : context.settings.prefix_routes) {
    if (route.prefix && *route.prefix != prefix) continue;
    if (route.router) return context.directory.by_guid(*route.router);
    const auto ports = context.directory.end_ports();
    const auto any = std::ranges::find_if(
        ports, [](const EndPort& port) { return port.node->info.type == NodeType::router; });
    return any != ports.end() ? &*any : nullptr;
  }
  return nullptr;
}

/// The ports that a GID and a LID of a question mean together; or the status that refuses them.
std::expected<PathEnds, std::uint16_t> ends_of(const PathContext& context, bool has_gid, const Gid& gid,
                                               const std::optional<Lid>& lid, bool may_be_elsewhere) {
  if (!has_gid && !lid) return PathEnds{.ports = context.directory.end_ports()};
  PathEnds ends;
  const EndPort* port = nullptr;
  if (has_gid) {
    port = find_port(context.directory, context.registry, gid);
    const bool of_ours = gid.prefix() == context.directory.prefix() || gid.prefix() == kDefaultSubnetPrefix;
    if (port == nullptr && may_be_elsewhere && !of_ours) {
      port = router_to(context, gid.prefix());
      ends.elsewhere = port != nullptr;
    }
    if (port == nullptr) return std::unexpected(wire::kSaInvalidGid);
    if (ends.elsewhere || gid.guid() != port->guid) ends.name = of_ours ? context.directory.here(gid) : gid;
  }
  if (lid) {
    const auto* at = context.directory.by_lid(*lid);
    if (at == nullptr) return PathEnds{};
    if (port != nullptr && at != port) return std::unexpected(wire::kSaRequestInvalid);
    port = at;
  }
  ends.ports = std::span(port, 1);
  return ends;
}

/// A record for each node: where the way comes in, and where it goes out.
std::vector<std::uint8_t> trace_of(const Directory& directory, const EndPort& from,
                                   const std::vector<Step>& steps) {
  std::vector<std::uint8_t> bytes((steps.size() + 1) * wire::TraceRecord::kRecordBytes);
  for (std::size_t i = 0; i <= steps.size(); ++i) {
    const auto& node = i == 0 ? *from.node : *steps[i - 1].to;
    wire::TraceRecord record{.gid_prefix = directory.prefix(),
                             .node_type = node.info.type,
                             .node = node.guid(),
                             .chassis = node.info.system_image};
    if (i != 0) record.entry_port = steps[i - 1].in;
    if (i != steps.size()) record.exit_port = steps[i].out;
    if (i != 0) record.entry = sm::port_guid(node, record.entry_port);
    if (i != steps.size()) record.exit = sm::port_guid(node, record.exit_port);
    wire::encode_over(record, std::span(bytes).subspan(i * wire::TraceRecord::kRecordBytes));
  }
  return bytes;
}

struct PathQuestion {
  PathQuery query;
  PathEnds from, to;
};

std::expected<PathQuestion, std::uint16_t> question_of(const PathContext& context, const Request& request) {
  const auto asked = wire::decode<Record>(request.data);
  if (!asked) return std::unexpected(wire::kSaRequestInvalid);
  if (request.has(Record::kServiceId) != request.has(Record::kServiceId + 1)) {
    return std::unexpected(wire::kSaInsufficientComponents);  // half of a ServiceID
  }
  PathQuestion question{.query = path_query(request, *asked), .from = {}, .to = {}};
  const auto& query = question.query;
  if (makes_no_sense(query)) return std::unexpected(wire::kSaRequestInvalid);
  const auto sources = ends_of(context, request.has(Record::kSgid), asked->sgid, query.slid, false);
  if (!sources) return std::unexpected(sources.error());
  const auto destinations = ends_of(context, request.has(Record::kDgid), asked->dgid, query.dlid, true);
  if (!destinations) return std::unexpected(destinations.error());
  question.from = *sources;
  question.to = *destinations;
  return question;
}

std::expected<Record, std::uint16_t> result_of(const PathSearch& search) {
  if (search.first()) return *search.first();
  return std::unexpected(search.status() != wire::kStatusOk ? search.status() : wire::kSaNoRecords);
}

class TableOfPaths : public Search {
 public:
  TableOfPaths(const PathContext& context, const PathQuery& query, PathSide from, PathSide to)
      : search_(context, query, std::move(from), std::move(to)) {}

  void look_at_most(std::size_t pairs) { search_.look_at_most(pairs); }
  bool go_on(Slice& slice) override { return search_.go_on(slice); }
  std::size_t bytes() const override { return search_.bytes(); }
  Found take() override {
    if (search_.status() != wire::kStatusOk) return refused(search_.status());
    return found(wire::kStatusOk, search_.take(), Record::kBytes);
  }

 protected:
  PathSearch& search() { return search_; }

 private:
  PathSearch search_;
};

class OnePath final : public TableOfPaths {
 public:
  using TableOfPaths::TableOfPaths;
  Found take() override {
    const auto path = result_of(search());
    if (!path) return refused(path.error());
    Records records(Record::kBytes);
    wire::encode_over(*path, records.add());
    return found(wire::kStatusOk, std::move(records), Record::kBytes);
  }
};

class Trace final : public TableOfPaths {
 public:
  Trace(const PathContext& context, const PathQuery& query, const PathEnds& from, const PathEnds& to)
      : TableOfPaths(context, query, {.one = from}, {.one = to}),
        directory_(context.directory),
        from_(from.ports.front()),
        to_(to.ports.front()) {}
  Found take() override {
    const auto path = result_of(search());
    if (!path) return refused(path.error());
    const auto steps = steps_between(directory_, from_, to_, path->dlid);
    return found(Answer{.status = wire::kStatusOk,
                        .record_bytes = wire::TraceRecord::kRecordBytes,
                        .records = trace_of(directory_, from_, steps)});
  }

 private:
  const Directory& directory_;
  const EndPort &from_, &to_;
};

}  // namespace

std::optional<std::expected<wire::PathRecord, std::uint16_t>> one_path(const PathContext& context,
                                                                       const Request& request, Slice& slice) {
  auto question = question_of(context, request);
  if (!question) return std::unexpected(question.error());
  // As a NumbPath of 1, which IBA's errata give a Get: the first of many.
  question->query.one = true;
  PathSearch search(context, question->query, {.one = question->from}, {.one = question->to});
  search.look_at_most(kMostPairs);
  if (!search.go_on(slice)) return std::nullopt;
  return result_of(search);
}

PathsOf path_records(const PathContext& context, const Request& request) {
  auto question = question_of(context, request);
  if (!question) return std::unexpected(question.error());
  auto& [query, sources, destinations] = *question;
  if (request.mad.method == wire::Method::get) {
    query.one = true;
    auto search =
        std::make_unique<OnePath>(context, query, PathSide{.one = sources}, PathSide{.one = destinations});
    search->look_at_most(kMostPairs);
    return search;
  }
  if (sources.ports.size() * destinations.ports.size() * Record::kBytes > kLongestAnswer) {
    return std::unexpected(wire::kSaNoResources);
  }
  return std::make_unique<TableOfPaths>(context, query, PathSide{.one = sources},
                                        PathSide{.one = destinations});
}

PathsOf multi_path_records(const PathContext& context, const Request& request) {
  const auto asked = wire::decode<Multi>(request.data);
  if (!asked) return std::unexpected(wire::kSaRequestInvalid);
  if (!request.has(Multi::kSources) || !request.has(Multi::kDestinations)) {
    return std::unexpected(wire::kSaInsufficientComponents);
  }
  if (asked->sources == 0 || asked->destinations == 0) return std::unexpected(wire::kSaRequestInvalid);
  const auto gids = request.data.subspan(Multi::kGidsAt);
  const std::size_t count = std::size_t{asked->sources} + asked->destinations;
  if (gids.size() < count * sizeof(GidBytes)) return std::unexpected(wire::kSaRequestInvalid);
  if (request.has(Multi::kServiceIdHigh) != request.has(Multi::kServiceIdLow)) {
    return std::unexpected(wire::kSaInsufficientComponents);
  }
  const auto query = multi_query(request, *asked);
  if (makes_no_sense(query)) return std::unexpected(wire::kSaRequestInvalid);
  PathSide from, to;
  for (std::size_t i = 0; i < count; ++i) {
    Gid gid;
    std::ranges::copy(gids.subspan(i * gid.bytes.size(), gid.bytes.size()), gid.bytes.begin());
    const auto end = ends_of(context, true, gid, {}, i >= asked->sources);
    if (!end) return std::unexpected(end.error());
    (i < asked->sources ? from : to).several.push_back(*end);
  }
  return std::make_unique<TableOfPaths>(context, query, std::move(from), std::move(to));
}

PathsOf trace_records(const PathContext& context, const Request& request) {
  const auto asked = wire::decode<Record>(request.data);
  if (!asked) return std::unexpected(wire::kSaRequestInvalid);
  auto query = path_query(request, *asked);
  query.one = true;
  const auto sources = ends_of(context, request.has(Record::kSgid), asked->sgid, query.slid, false);
  const auto destinations = ends_of(context, request.has(Record::kDgid), asked->dgid, query.dlid, true);
  if (!sources) return std::unexpected(sources.error());
  if (!destinations) return std::unexpected(destinations.error());
  if (sources->ports.size() > 1 || destinations->ports.size() > 1) {
    return std::unexpected(wire::kSaInsufficientComponents);
  }
  if (sources->ports.empty() || destinations->ports.empty()) return std::unexpected(wire::kSaNoRecords);
  return std::make_unique<Trace>(context, query, *sources, *destinations);
}

}  // namespace smd::sa
