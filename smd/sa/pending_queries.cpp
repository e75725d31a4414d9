// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/pending_queries.h"

#include <utility>
#include <variant>

#include "smd/sa/fast_path.h"

namespace smd::sa {

Reply reply_with(const Request& request, Found found, const Arrived& arrived) {
  Reply reply{.to = back_to(arrived.mad.from),
              .unread = found.unread,
              .attribute = request.mad.attribute,
              .method = request.mad.method,
              .asked_at = arrived.at};
  if (!is_by_rmpp(request, found.status) || !found.mad) {
    sa::reply(request, found.status, found.record_bytes, found.records(), reply.bytes);
    return reply;
  }
  reply.bytes.resize(wire::kSaDataOffset);
  reply_headers(request, found.status, found.record_bytes, found.records().size(), reply.bytes);
  reply.table = std::move(found.mad);
  return reply;
}

Reply refusal(const Request& request, std::uint16_t status, const Arrived& arrived) {
  return reply_with(request, refused(status), arrived);
}

void PendingQueries::begin(Arrived arrived, const Round& round, Slice& slice, std::vector<Reply>& replies) {
  auto query = std::make_unique<Query>();
  query->arrived = std::move(arrived);
  const auto request = Request::parse(query->arrived.mad.bytes);
  if (!request) return;
  query->request = *request;
  query->view = round.view;
  query->registry = round.registry;
  query->settings = round.settings;
  const AnswerContext context{.directory = round.view ? &round.view->directory : nullptr,
                              .registry = *query->registry,
                              .settings = *query->settings,
                              .tables = round.view ? round.view->tables : query->no_tables};
  const auto& from = query->arrived.mad.from;
  auto begun =
      search_for(context, query->request, {.lid = from.lid, .now = round.now, .act_count = round.act_count});
  if (auto* at_once = std::get_if<Found>(&begun)) {
    replies.push_back(reply_with(query->request, std::move(*at_once), query->arrived));
    return;
  }
  query->search = std::move(std::get<std::unique_ptr<Search>>(begun));
  if (!slice.over() && answered(*query, slice, round.room, replies)) return;
  ++of_lid_[from.lid];
  in_hand_.push_back(std::move(query));
}

void PendingQueries::go_on(Slice slice, std::size_t room, std::vector<Reply>& replies) {
  while (!in_hand_.empty() && !slice.over()) {
    auto& query = *in_hand_.front();
    if (!answered(query, slice, room, replies)) {
      in_hand_.splice(in_hand_.end(), in_hand_, in_hand_.begin());
      continue;
    }
    forget(query.arrived.mad.from.lid);
    in_hand_.pop_front();
  }
}

/// Ready, or refused because too much is held by answers already.
bool PendingQueries::answered(Query& query, Slice& slice, std::size_t room, std::vector<Reply>& replies) {
  const bool ready = query.search->go_on(slice);
  if (!ready && bytes() + query.search->bytes() <= room) return false;
  auto found = ready ? query.search->take() : refused(wire::kStatusBusy);
  replies.push_back(reply_with(query.request, std::move(found), query.arrived));
  return true;
}

std::size_t PendingQueries::bytes() const {
  std::size_t sum = 0;
  for (const auto& query : in_hand_) sum += query->search->bytes();
  return sum;
}

void PendingQueries::forget(Lid lid) {
  const auto found = of_lid_.find(lid);
  if (--found->second == 0) of_lid_.erase(found);
}

void PendingQueries::clear() {
  in_hand_.clear();
  of_lid_.clear();
}

}  // namespace smd::sa
