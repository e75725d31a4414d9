// SPDX-License-Identifier: Apache-2.0
#pragma once
// What nodes have left unanswered in this round of questions (a sweep). They are not asked it again before
// the next one, so that a silent node costs its time-outs once.

#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "mad/base/id.h"
#include "mad/clock.h"
#include "mad/transactions/operation.h"
#include "mad/transport.h"

namespace smd::mad {

class Unanswered {
 public:
  /// What was asked of a node, and by which way.
  struct Question {
    Operation operation;
    std::uint32_t modifier = 0;
    Route route{};
  };
  /// How often and how long it was asked in vain. No tries: it was another question, the node is silent.
  struct Failure {
    unsigned tries = 0;
    Duration elapsed{};
  };

  /// Forgets all failures of the round before. Before the first call nothing is kept.
  void begin_round();

  /// `silent`: the node has answered nothing since, so that the way to it may be what is broken: no more is
  /// sent by it, others may be tried. `whole_attribute`: the node has answered none of this attribute and
  /// method.
  void failed(Guid node, const Question& question, const Failure& how, bool silent, bool whole_attribute);
  /// The same where the node at a place is not known (see Request::place).
  void failed(std::uint64_t place);
  /// The node answered something: its routes that failed silently may be used again in this round.
  void answered(Guid node);
  /// The same, where the question is known: the node answers some of this attribute and method.
  void answered(Guid node, const Operation& operation);

  /// Why it is not asked in this round; nothing: it may be.
  std::optional<Failure> find(Guid node, std::uint64_t place, const Question& question) const;

 private:
  /// A Get that is not answered rules out the Set, too; after a Set a Get tells what came of it.
  struct Row {
    Question question;
    bool by_this_way = false, whole_attribute = false;
    Failure how;
    bool rules_out(const Question& other) const {
      const auto& mine = question.operation;
      return mine.mgmt_class == other.operation.mgmt_class && mine.attribute == other.operation.attribute &&
             (other.operation.set || !mine.set) && (whole_attribute || question.modifier == other.modifier) &&
             (!by_this_way || question.route == other.route);
    }
  };
  struct Node {
    std::vector<Route> silent;  ///< ways by which nothing came
    std::vector<Row> rows;
  };

  bool on_ = false;
  std::unordered_map<Guid, Node> nodes_;
  std::set<std::uint64_t> places_;
};

}  // namespace smd::mad
