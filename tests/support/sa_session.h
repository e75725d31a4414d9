// SPDX-License-Identifier: Apache-2.0
#pragma once
// Clients of subnet administration that register things, without the way through the fabric.

#include "mad/wire/sa/member_record.h"
#include "smd/sa/registry/services.h"
#include "smd/sa/registry/write.h"
#include "tests/support/sa_lab.h"

namespace smd::test {

/// What a port asks for, to be changed by a test before it is sent.
struct Joining {
  wire::McMemberRecord record;
  std::uint64_t mask = 0;

  Joining& with(wire::McMemberRecord::Component component) {
    mask |= std::uint64_t{1} << component;
    return *this;
  }
};

/// A full member of a group comes or goes, with no more said than has to be.
inline std::vector<std::uint8_t> membership(wire::Method method, const Mgid& mgid, const Gid& port) {
  using Record = wire::McMemberRecord;
  Record record;
  record.mgid = mgid;
  record.port_gid = port;
  record.join_state = wire::kFullMember;
  const auto mask = 1U << Record::kMgid | 1U << Record::kPortGid | 1U << Record::kJoinState;
  return Question{.method = method, .attribute = Record::kRecord, .mask = mask}.with(record);
}

/// The registry of one lab, written by requests.
class SaSession {
 public:
  explicit SaSession(const SaLab& lab, sa::Settings settings = {.sm_key = 1})
      : lab_(lab), settings_(settings) {
    refresh();
  }

  const sa::Registry& registry() const { return registry_; }
  sa::Settings& settings() { return settings_; }
  sa::Effects& effects() { return effects_; }

  std::int64_t& now() { return now_; }
  void expire() {
    sa::Writing writing{lab_.directory(), settings_, registry_, effects_, now_};
    sa::expire(writing);
  }

  void refresh() { refresh(lab_.directory()); }
  void refresh(const sa::Directory& directory) {
    sa::Writing writing{directory, settings_, registry_, effects_, now_};
    sa::refresh(writing);
  }

  /// A request as it comes from `from`.
  Reply write(const sa::EndPort& from, std::span<const std::uint8_t> mad) {
    const auto request = *sa::Request::parse(mad);
    sa::Writing writing{lab_.directory(), settings_, registry_, effects_, now_};
    const sa::Requester asker{.port = &from, .lid = from.lid, .trusted = request.sa.sm_key != 0};
    return reply_of(sa::reply(request, sa::write(writing, asker, request)));
  }
  Reply ask(std::span<const std::uint8_t> question, Lid from = {}) const {
    return reply_of(
        *sa::answer(&lab_.directory(), registry_, settings_, question, {.lid = from, .now = now_}));
  }

  /// All that IPoIB says when it joins a group that may have to be made.
  Joining joining(const sa::EndPort& port, const Mgid& mgid, std::uint8_t state = wire::kFullMember) const {
    using Record = wire::McMemberRecord;
    Joining joining;
    joining.record.mgid = mgid;
    joining.record.port_gid = lab_.directory().gid_of(port);
    joining.record.join_state = state;
    joining.record.qkey = 0x0b1b;
    joining.record.pkey = PKey{0xFFFF};
    for (const auto component : {Record::kMgid, Record::kPortGid, Record::kJoinState, Record::kQKey,
                                 Record::kPKey, Record::kTrafficClass, Record::kFlowLabel, Record::kSl}) {
      joining.with(component);
    }
    return joining;
  }
  Reply join(const sa::EndPort& port, const Joining& joining) {
    return send(port, wire::Method::set, joining);
  }
  Reply join(const sa::EndPort& port, const Mgid& mgid, std::uint8_t state = wire::kFullMember) {
    return join(port, joining(port, mgid, state));
  }
  Reply leave(const sa::EndPort& port, const Joining& leaving) {
    return send(port, wire::Method::remove, leaving);
  }
  Reply leave(const sa::EndPort& port, const Mgid& mgid, std::uint8_t state = wire::kFullMember) {
    return leave(port, joining(port, mgid, state));
  }
  /// Why the last refused request was refused.
  const sa::Refusal& last_refusal() const { return effects_.refused.back().refusal; }

 private:
  Reply send(const sa::EndPort& port, wire::Method method, const Joining& joining) {
    const Question question{
        .method = method, .attribute = wire::McMemberRecord::kRecord, .mask = joining.mask};
    return write(port, question.with(joining.record));
  }

  const SaLab& lab_;
  sa::Settings settings_;
  sa::Registry registry_;
  sa::Effects effects_;
  std::int64_t now_ = 1;
};

inline Mgid mgid(std::string_view text) { return *base::parse_mgid(text); }

}  // namespace smd::test
