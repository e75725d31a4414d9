// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/questions.h"

#include <utility>
#include <variant>

#include "smd/sa/prompt.h"

namespace smd::sa {

Reply reply_with(const Request& request, Found found, const mad::LidRoute& from) {
  Reply reply{.to = back_to(from), .unread = found.unread};
  if (!is_by_rmpp(request, found.status) || !found.mad) {
    sa::reply(request, found.status, found.record_bytes, found.records(), reply.bytes);
    return reply;
  }
  reply.bytes.resize(wire::kSaDataOffset);
  reply_headers(request, found.status, found.record_bytes, found.records().size(), reply.bytes);
  reply.table = std::move(found.mad);
  return reply;
}

Reply refusal(const Request& request, std::uint16_t status, const mad::LidRoute& from) {
  return reply_with(request, refused(status), from);
}

void Questions::begin(mad::Received mad, const Round& round, Slice& slice, std::vector<Reply>& replies) {
  auto question = std::make_unique<Question>();
  question->mad = std::move(mad);
  const auto request = Request::parse(question->mad.bytes);
  if (!request) return;
  question->request = *request;
  question->view = round.view;
  question->registry = round.registry;
  question->settings = round.settings;
  const Ground ground{.directory = round.view ? &round.view->directory : nullptr,
                      .registry = *question->registry,
                      .settings = *question->settings,
                      .tables = round.view ? round.view->tables : question->no_tables};
  const auto& from = question->mad.from;
  auto begun = search_for(ground, question->request,
                          {.lid = from.lid, .now = round.now, .act_count = round.act_count});
  if (auto* at_once = std::get_if<Found>(&begun)) {
    replies.push_back(reply_with(question->request, std::move(*at_once), from));
    return;
  }
  question->search = std::move(std::get<std::unique_ptr<Search>>(begun));
  if (!slice.over() && answered(*question, slice, round.room, replies)) return;
  ++of_lid_[from.lid];
  in_hand_.push_back(std::move(question));
}

void Questions::go_on(Slice slice, std::size_t room, std::vector<Reply>& replies) {
  while (!in_hand_.empty() && !slice.over()) {
    auto& question = *in_hand_.front();
    if (!answered(question, slice, room, replies)) {
      in_hand_.splice(in_hand_.end(), in_hand_, in_hand_.begin());
      continue;
    }
    forget(question.mad.from.lid);
    in_hand_.pop_front();
  }
}

/// Ready, or refused because too much is held by answers already.
bool Questions::answered(Question& question, Slice& slice, std::size_t room, std::vector<Reply>& replies) {
  const bool ready = question.search->go_on(slice);
  if (!ready && bytes() + question.search->bytes() <= room) return false;
  auto found = ready ? question.search->take() : refused(wire::kStatusBusy);
  replies.push_back(reply_with(question.request, std::move(found), question.mad.from));
  return true;
}

std::size_t Questions::bytes() const {
  std::size_t sum = 0;
  for (const auto& question : in_hand_) sum += question->search->bytes();
  return sum;
}

void Questions::forget(Lid lid) {
  const auto found = of_lid_.find(lid);
  if (--found->second == 0) of_lid_.erase(found);
}

void Questions::clear() {
  in_hand_.clear();
  of_lid_.clear();
}

}  // namespace smd::sa
