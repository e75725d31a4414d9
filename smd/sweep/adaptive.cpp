// SPDX-License-Identifier: Apache-2.0
#include "smd/sweep/adaptive.h"

#include <memory>
#include <utility>

#include "mad/task_group.h"
#include "mad/transactions/ask.h"
#include "mad/wire/vendor.h"
#include "smd/sweep/m_key_hints.h"
#include "smd/sweep/paths.h"

namespace smd::sm::inline sweeping {
namespace {

struct Question {
  std::size_t index = 0;  ///< of the node
  mad::DirectedPath path;
  ArKnown known = ArKnown::not_asked;
  std::shared_ptr<const wire::ArInfo> info;
};

asio::awaitable<void> ask(mad::Transactions* tx, NodePtr node, Question* question) {
  auto target = target_of(*node, PortNum{0}, question->path);
  target.life = tx->soon(node->guid());
  const auto info = co_await mad::get<wire::ArInfo>(*tx, target);
  const bool refused = !info && info.error().fault == mad::Fault::refused;
  question->known = refused ? ArKnown::lacks : ArKnown::asked;
  if (info) question->info = std::make_shared<const wire::ArInfo>(*info);
}

asio::awaitable<std::vector<Question>> answers(mad::Transactions* tx, const Subnet* subnet,
                                               std::vector<std::size_t> nodes) {
  std::vector<Question> questions;
  if (nodes.empty()) co_return questions;  // nearly always: the ways need not be looked for
  const Paths paths(*subnet);
  for (const auto index : nodes) {
    if (const auto path = paths.to(index); path)
      questions.push_back({.index = index, .path = *path, .info = {}});
  }
  mad::TaskGroup group(co_await asio::this_coro::executor);
  for (auto& question : questions) group.spawn(ask(tx, subnet->nodes[question.index], &question));
  co_await group.join();
  co_await group.stop();
  co_return questions;
}

void note(Subnet& subnet, std::size_t index, ArKnown known, std::shared_ptr<const wire::ArInfo> info) {
  auto node = std::make_shared<Node>(*subnet.nodes[index]);
  node->ar_known = known;
  node->ar_info = std::move(info);
  subnet.nodes[index] = std::move(node);
}

/// LinearFDBTop and the LID are lost by a restart, and adaptive routing with them.
bool same_run(const Node& before, const Node& now) {
  return before.forwards() && now.forwards() && before.ports[0].info.lid == now.ports[0].info.lid;
}

}  // namespace

asio::awaitable<Subnet> hold_adaptive(mad::Transactions* tx, Subnet subnet, const Subnet* before, bool anew) {
  std::vector<std::size_t> to_ask;
  for (std::size_t i = 0; i < subnet.nodes.size(); ++i) {
    const auto& node = *subnet.nodes[i];
    const bool is_due = node.ar_known == ArKnown::not_asked || (anew && node.ar_known == ArKnown::asked);
    if (!is_due || !node.forwards() || !wire::is_nvidia(node.info.vendor_id)) continue;
    const auto* was = before != nullptr ? before->find(node.guid()) : nullptr;
    if (was != nullptr && was->ar_known == ArKnown::lacks && same_run(*was, node)) {
      note(subnet, i, ArKnown::lacks, nullptr);
    } else {
      to_ask.push_back(i);
    }
  }
  auto answered = co_await answers(tx, &subnet, std::move(to_ask));
  for (auto& answer : answered) {
    const auto& node = *subnet.nodes[answer.index];
    const bool silent = !answer.info && answer.known == ArKnown::asked;  // as far as we know it is as it was
    if (silent) answer.info = node.ar_info;
    if (!silent || node.ar_known != answer.known)
      note(subnet, answer.index, answer.known, std::move(answer.info));
  }
  co_return subnet;
}

asio::awaitable<Subnet> read_adaptive_again(mad::Transactions* tx, Subnet subnet,
                                            std::vector<std::size_t> nodes) {
  auto answered = co_await answers(tx, &subnet, std::move(nodes));
  for (auto& answer : answered) {
    if (answer.info) note(subnet, answer.index, answer.known, std::move(answer.info));
  }
  co_return subnet;
}

std::set<Guid> adaptive_switches(const Subnet& subnet) {
  std::set<Guid> found;
  for (const auto& node : subnet.nodes) {
    if (node->routes_adaptively()) found.insert(node->guid());
  }
  return found;
}

}  // namespace smd::sm::inline sweeping
