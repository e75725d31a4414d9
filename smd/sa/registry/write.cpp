// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/registry/write.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mad/wire/sa/member_record.h"
#include "mad/wire/sa/records.h"
#include "smd/sa/registry/aliases.h"
#include "smd/sa/registry/membership.h"
#include "smd/sa/registry/services.h"
#include "smd/sa/registry/subscriptions.h"

namespace smd::sa {
namespace {

using wire::Method;

/// A record, or an attribute that is none.
template <wire::Layout A>
Answer answer_of(const A& value, std::size_t record_bytes) {
  Answer answer{.status = wire::kStatusOk, .record_bytes = record_bytes, .records = {}};
  answer.records.resize(std::max(A::kBytes, record_bytes));
  wire::encode_over(value, answer.records);
  return answer;
}

void note(Writing& writing, const Requester& requester, const EndPort* port, std::string_view what,
          std::string about, const Refusal& refusal) {
  if (port == nullptr) port = requester.port;
  Refused refused{.what = what,
                  .node = {},
                  .port = {},
                  .name = {},
                  .number = {},
                  .from = requester.lid,
                  .about = std::move(about),
                  .refusal = refusal};
  if (port != nullptr) {
    refused.node = port->node->guid();
    refused.port = port->guid;
    refused.name = port->node->description;
    refused.number = port->port;
  }
  writing.effects.refused.push_back(std::move(refused));
}

Answer membership(Writing& writing, const Requester& requester, const Request& request) {
  const bool joins = request.mad.method == Method::set;
  const auto done = joins ? join(writing, requester, request) : leave(writing, requester, request);
  if (done) return answer_of(*done, kMemberRecordBytes);
  const auto asked = wire::decode<wire::McMemberRecord>(request.data);
  note(writing, requester, asked ? writing.directory.by_gid(asked->port_gid) : nullptr,
       joins ? "join" : "leave", asked ? to_string(asked->mgid) : std::string(), done.error());
  return refuse(done.error().status);
}

Answer service(Writing& writing, const Requester& requester, const Request& request) {
  const bool offers = request.mad.method == Method::set;
  const auto done = offers ? offer(writing, requester, request) : withdraw(writing, requester, request);
  if (done) return answer_of(*done, wire::ServiceRecord::kBytes);
  const auto asked = wire::decode<wire::ServiceRecord>(request.data);
  note(writing, requester, asked ? writing.directory.by_gid(asked->gid) : nullptr,
       offers ? "offer" : "withdraw", asked ? fmt::format("0x{:016x}", asked->id) : std::string(),
       done.error());
  return refuse(done.error().status);
}

Answer subscription(Writing& writing, const Requester& requester, const Request& request) {
  const auto done = inform(writing, requester, request);
  if (done) return answer_of(*done, 0);
  note(writing, requester, nullptr, "subscribe", {}, done.error());
  auto refused = refuse(done.error().status);
  // Subscribe says whether there is a subscription now, not what was asked for.
  if (auto asked = wire::decode<wire::InformInfo>(request.data)) {
    asked->subscribe = 0;
    refused.records = answer_of(*asked, 0).records;
  }
  return refused;
}

Answer aliases(Writing& writing, const Requester& requester, const Request& request) {
  const bool adds = request.mad.method == Method::set;
  auto done = adds ? add_aliases(writing, requester, request) : drop_aliases(writing, requester, request);
  if (done) {
    if (done->rest) note(writing, requester, nullptr, "alias", {}, *done->rest);
    const auto bytes = done->record.size();
    return {.status = wire::kStatusOk, .record_bytes = bytes, .records = std::move(done->record)};
  }
  note(writing, requester, nullptr, adds ? "alias" : "unalias", {}, done.error());
  return refuse(done.error().status);
}

}  // namespace

bool is_write(const Request& request) {
  if (!request.has_known_version()) return false;
  const bool sets = request.mad.method == Method::set, removes = request.mad.method == Method::remove;
  switch (request.mad.attribute) {
    case wire::McMemberRecord::kRecord:
    case wire::ServiceRecord::kRecord:
    case wire::GuidInfoRecordId::kRecord:
      return sets || removes;
    case wire::InformInfo::kAttribute:
      return sets;
    default:
      return false;
  }
}

Answer write(Writing& writing, const Requester& requester, const Request& request) {
  switch (request.mad.attribute) {
    case wire::McMemberRecord::kRecord:
      return membership(writing, requester, request);
    case wire::ServiceRecord::kRecord:
      return service(writing, requester, request);
    case wire::InformInfo::kAttribute:
      return subscription(writing, requester, request);
    case wire::GuidInfoRecordId::kRecord:
      return aliases(writing, requester, request);
    default:
      return refuse(wire::kStatusBadMethodAttribute);
  }
}

}  // namespace smd::sa
