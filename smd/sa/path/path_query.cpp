// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/path/path_query.h"

#include <algorithm>
#include <expected>
#include <numeric>
#include <span>
#include <vector>

#include "smd/sa/path/limits.h"
#include "smd/sa/path/walk.h"

namespace smd::sa {
namespace {

using Record = wire::PathRecord;
using Multi = wire::MultiPathRecord;

/// The question, taken apart.
struct Query {
  PathWish wish{};
  std::optional<Limit<Mtu>> mtu{};
  std::optional<Limit<std::uint8_t>> rate{}, life{};
  std::optional<Sl> sl{};
  std::optional<Lid> slid{}, dlid{};
  bool reversible = false;  ///< a way back is needed
  unsigned paths = 1;       ///< of one pair of ports, at most
};

/// One end of the paths; none of it named: every end port.
struct Ends {
  std::vector<const EndPort*> ports;
  bool named = false;
};

template <class Value>
std::optional<Limit<Value>> limit_of(const Request& request, unsigned selector, unsigned component,
                                     wire::Selector how, Value value) {
  if (!request.has(component)) return std::nullopt;
  // Without a selector a value is meant as it stands (IBA's wild-carded selector).
  return Limit<Value>{request.has(selector) ? how : wire::Selector::exactly, value};
}

/// What PathRecord and MultiPathRecord have in common.
template <class Asked>
Query query_of(const Request& request, const Asked& asked) {
  Query query;
  if (request.has(Asked::kPKey)) query.wish.pkey = asked.pkey;
  if (request.has(Asked::kQosClass)) query.wish.qos_class = asked.qos_class;
  if (request.has(Asked::kSl)) query.sl = asked.sl;
  query.mtu = limit_of(request, Asked::kMtuSelector, Asked::kMtu, asked.mtu_selector, asked.mtu);
  query.rate = limit_of(request, Asked::kRateSelector, Asked::kRate, asked.rate_selector, asked.rate);
  query.life = limit_of(request, Asked::kLifeSelector, Asked::kLife, asked.life_selector, asked.life);
  query.reversible = request.has(Asked::kReversible) && asked.reversible;
  if (request.mad.method != wire::Method::get) query.paths = request.has(Asked::kPaths) ? asked.paths : 127U;
  return query;
}

Query path_query(const Request& request, const Record& asked) {
  auto query = query_of(request, asked);
  if (request.has(Record::kServiceId) || request.has(Record::kServiceId + 1))
    query.wish.service_id = asked.service_id;
  if (request.has(Record::kSlid)) query.slid = asked.slid;
  if (request.has(Record::kDlid)) query.dlid = asked.dlid;
  return query;
}

Query multi_query(const Request& request, const Multi& asked) {
  auto query = query_of(request, asked);
  if (request.has(Multi::kServiceIdHigh) || request.has(Multi::kServiceIdLow)) {
    query.wish.service_id = std::uint64_t{asked.service_id_high} << 56U | asked.service_id_low;
  }
  return query;
}

/// The ports that a GID and a LID of a question mean together; or the status that refuses them.
std::expected<Ends, std::uint16_t> ends_of(const Directory& directory, bool has_gid, const Gid& gid,
                                           const std::optional<Lid>& lid) {
  Ends ends;
  if (!has_gid && !lid) {
    for (const auto& port : directory.end_ports()) ends.ports.push_back(&port);
    return ends;
  }
  ends.named = true;
  const EndPort* port = nullptr;
  if (has_gid) {
    port = directory.by_gid(gid);
    if (port == nullptr) return std::unexpected(wire::kSaInvalidGid);
  }
  if (lid) {
    const auto* at = directory.by_lid(*lid);
    if (at == nullptr || (port != nullptr && at != port)) return ends;
    port = at;
  }
  ends.ports.push_back(port);
  return ends;
}

class Answering {
 public:
  Answering(const Directory& directory, const Policy& policy, std::uint8_t life, const Query& query)
      : directory_(directory), policy_(policy), life_(life), query_(query) {}

  /// The paths of one pair; false: the answer would be too long.
  bool add(const EndPort& from, const EndPort& to) {
    if (!meets(life_of(from, to), query_.life)) return true;
    // First those with the same offset at both ends, which spread best; then the other pairs of LIDs.
    const unsigned sources = from.lids(), destinations = to.lids();
    const unsigned all = sources * destinations, round = std::lcm(sources, destinations);
    unsigned found = 0;
    for (unsigned i = 0; i < all && found < query_.paths; ++i) {
      const Lid slid{static_cast<std::uint16_t>(from.lid.value() + i % sources)};
      const Lid dlid{static_cast<std::uint16_t>(to.lid.value() + (i + i / round) % destinations)};
      if ((query_.slid && *query_.slid != slid) || (query_.dlid && *query_.dlid != dlid)) continue;
      if (const auto record = path(from, to, slid, dlid)) {
        if ((records_ + 1) * Record::kBytes > kLongestAnswer) return false;
        bytes_.resize((records_ + 1) * Record::kBytes);
        wire::encode_over(*record, std::span(bytes_).last(Record::kBytes));
        ++records_;
        ++found;
      }
    }
    return true;
  }

  std::size_t count() const { return records_; }
  std::vector<std::uint8_t> take() { return std::move(bytes_); }

 private:
  /// A packet that never leaves its port lives no time.
  std::uint8_t life_of(const EndPort& from, const EndPort& to) const { return &from == &to ? 0 : life_; }

  std::optional<Record> path(const EndPort& from, const EndPort& to, Lid slid, Lid dlid) const {
    const auto terms = policy_.path(directory_, from, to, dlid, query_.wish);
    if (!terms || (query_.sl && *query_.sl != terms->sl)) return std::nullopt;
    const auto way = walk(directory_, from, to, dlid);
    if (!way) return std::nullopt;
    const auto mtu = limited(way->mtu, query_.mtu);
    const auto rate = limited(way->rate, query_.rate);
    if (!mtu || !rate) return std::nullopt;
    const bool back = walk(directory_, to, from, slid).has_value();
    if (query_.reversible && !back) return std::nullopt;
    return Record{.service_id = query_.wish.service_id.value_or(0),
                  .dgid = directory_.gid_of(to),
                  .sgid = directory_.gid_of(from),
                  .dlid = dlid,
                  .slid = slid,
                  .reversible = back,
                  .paths = 0,
                  .pkey = terms->pkey,
                  .qos_class = query_.wish.qos_class.value_or(0),
                  .sl = terms->sl,
                  .mtu_selector = wire::Selector::exactly,
                  .mtu = *mtu,
                  .rate_selector = wire::Selector::exactly,
                  .rate = rate->code,
                  .life_selector = wire::Selector::exactly,
                  .life = life_of(from, to)};
  }

  const Directory& directory_;
  const Policy& policy_;
  std::uint8_t life_;
  const Query& query_;
  std::vector<std::uint8_t> bytes_;
  std::size_t records_ = 0;
};

}  // namespace

Answer path_records(const Directory& directory, const Policy& policy, std::uint8_t life,
                    const Request& request) {
  const auto asked = wire::decode<Record>(request.data);
  if (!asked) return refuse(wire::kSaRequestInvalid);
  const auto query = path_query(request, *asked);
  const auto sources = ends_of(directory, request.has(Record::kSgid), asked->sgid, query.slid);
  if (!sources) return refuse(sources.error());
  const auto destinations = ends_of(directory, request.has(Record::kDgid), asked->dgid, query.dlid);
  if (!destinations) return refuse(destinations.error());

  if (sources->ports.size() * destinations->ports.size() * Record::kBytes > kLongestAnswer) {
    return refuse(wire::kSaNoResources);
  }
  Answering answering(directory, policy, life, query);
  for (const auto* from : sources->ports) {
    for (const auto* to : destinations->ports) {
      if (!answering.add(*from, *to)) return refuse(wire::kSaNoResources);
    }
    if (request.mad.method == wire::Method::get && answering.count() > 1) break;
  }
  const auto count = answering.count();
  if (request.mad.method == wire::Method::get) {
    if (count == 0) return refuse(wire::kSaNoRecords);
    if (count > 1) return refuse(wire::kSaTooManyRecords);
  }
  return {.status = wire::kStatusOk, .record_bytes = Record::kBytes, .records = answering.take()};
}

Answer multi_path_records(const Directory& directory, const Policy& policy, std::uint8_t life,
                          const Request& request) {
  const auto asked = wire::decode<Multi>(request.data);
  if (!asked) return refuse(wire::kSaRequestInvalid);
  const bool counted = request.has(Multi::kSources) && request.has(Multi::kDestinations);
  if (!counted || asked->sources == 0 || asked->destinations == 0) {
    return refuse(wire::kSaInsufficientComponents);
  }
  const auto gids = request.data.subspan(Multi::kGidsAt);
  const std::size_t count = std::size_t{asked->sources} + asked->destinations;
  if (gids.size() < count * sizeof(GidBytes)) return refuse(wire::kSaRequestInvalid);
  std::vector<const EndPort*> ports;
  for (std::size_t i = 0; i < count; ++i) {
    Gid gid;
    std::ranges::copy(gids.subspan(i * gid.bytes.size(), gid.bytes.size()), gid.bytes.begin());
    ports.push_back(directory.by_gid(gid));
    if (ports.back() == nullptr) return refuse(wire::kSaInvalidGid);
  }
  const auto query = multi_query(request, *asked);
  Answering answering(directory, policy, life, query);
  for (const auto* from : std::span(ports).first(asked->sources)) {
    for (const auto* to : std::span(ports).subspan(asked->sources)) {
      if (!answering.add(*from, *to)) return refuse(wire::kSaNoResources);
    }
  }
  if (answering.count() == 0) return refuse(wire::kSaNoRecords);
  return {.status = wire::kStatusOk, .record_bytes = Record::kBytes, .records = answering.take()};
}

}  // namespace smd::sa
