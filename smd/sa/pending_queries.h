// SPDX-License-Identifier: Apache-2.0
#pragma once
// Queries that take longer than a slice, by turns.

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "mad/transport.h"
#include "smd/sa/answer.h"
#include "smd/sa/arrived.h"
#include "smd/sa/view.h"

namespace smd::sa {

/// An answer on its way to the transport.
struct Reply {
  std::vector<std::uint8_t> bytes{};  ///< all of it, or its headers
  /// Several answers may share the records: then `bytes` are written over the beginning when it is sent.
  std::shared_ptr<std::vector<std::uint8_t>> table{};
  mad::LidRoute to{};
  Lid unread{};  ///< as in Found
  // Of the request, for its counts:
  std::uint16_t attribute = 0;
  wire::Method method{};
  mad::TimePoint asked_at{};  ///< when it arrived

  std::size_t size() const { return table ? table->size() : bytes.size(); }  ///< bytes of the whole MAD
};
/// To where `arrived`, which is the request's, came from. By RMPP where is_by_rmpp() says so.
Reply reply_with(const Request& request, Found found, const Arrived& arrived);
/// A reply that is a status only.
Reply refusal(const Request& request, std::uint16_t status, const Arrived& arrived);

/// What the queries of a round are answered from. What a search stands on, it keeps.
struct Round {
  ViewPtr view;  ///< null: there is none yet
  RegistryPtr registry;
  std::shared_ptr<const Settings> settings;
  std::int64_t now = 0;         ///< Unix time in seconds
  std::uint32_t act_count = 0;  ///< our own SM's
  std::size_t room = 0;         ///< bytes that answers which are not ready may have together
};

/// Of one thread at a time.
class PendingQueries {
 public:
  /// Of one LID that are in hand at once; what else it asks for waits.
  static constexpr unsigned kOfOneLid = 4;

  /// Begins to answer, goes on as far as the slice lasts, and keeps what is not ready by then. Not for
  /// requests that must not be answered.
  void begin(Arrived arrived, const Round& round, Slice& slice, std::vector<Reply>& replies);
  /// Goes on with those that are in hand, each for a slice of its own; one slice in all.
  void go_on(Slice slice, std::size_t room, std::vector<Reply>& replies);

  bool empty() const { return in_hand_.empty(); }
  std::size_t size() const { return in_hand_.size(); }
  /// Fewer than kOfOneLid queries of this LID are in hand.
  bool has_room(Lid lid) const {
    const auto found = of_lid_.find(lid);
    return found == of_lid_.end() || found->second < kOfOneLid;
  }
  /// Drops all without an answer.
  void clear();

 private:
  struct Query {
    Arrived arrived;
    Request request;  ///< looks into `arrived`
    ViewPtr view;
    RegistryPtr registry;
    std::shared_ptr<const Settings> settings;
    TableCache no_tables;
    std::unique_ptr<Search> search;
  };
  std::size_t bytes() const;
  bool answered(Query& query, Slice& slice, std::size_t room, std::vector<Reply>& replies);
  void forget(Lid lid);

  std::list<std::unique_ptr<Query>> in_hand_;  ///< the next one first
  std::unordered_map<Lid, unsigned> of_lid_;   ///< none is 0
};

}  // namespace smd::sa
