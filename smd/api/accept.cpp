// SPDX-License-Identifier: Apache-2.0
// What is missing is missing on purpose.
#include <fmt/format.h>

#include <expected>
#include <string>
#include <vector>

#include "mad/base/parse.h"
#include "smd/api/handlers.h"
#include "smd/api/json_in.h"
#include "smd/api/json_out.h"
#include "smd/api/not_master.h"
#include "smd/api/places.h"
#include "smd/inventory/inventory.h"

namespace smd::api {

using sm::Json;
using sm::JsonObject;

namespace {

/// The node that the body names; empty: all that are lost.
std::expected<std::string, Answer> lost_named(std::string_view body) {
  const auto object = object_of(body, {"lost", "node"});
  if (!object) return std::unexpected(object.error());
  const auto node = text_in(*object, "node");
  if (!node) return std::unexpected(node.error());
  const auto* lost = object->if_contains("lost");
  if (lost == nullptr || *lost != true) return std::unexpected(bad_body("lost: must be true"));
  return node->value_or("");
}

/// By GUID, or by a name that one node only has.
std::expected<Guid, Answer> node_of(const sm::Inventory& known, const std::string& words) {
  if (words.empty()) return Guid{};
  const auto guid = base::parse_guid(words);
  if (guid && known.find(*guid) != nullptr) return *guid;
  std::vector<Guid> named;
  for (const auto& [node, entry] : known.nodes()) {
    if (is_written_as(entry.name, words)) named.push_back(node);
  }
  if (named.size() == 1) return named.front();
  if (named.empty())
    return std::unexpected(error_of(404, "no_such_node", fmt::format("no node {} is known", words)));
  return std::unexpected(
      error_of(409, "ambiguous", fmt::format("{} nodes are named {}: give the GUID", named.size(), words)));
}

}  // namespace

Answer post_accept(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto wanted = lost_named(question.body);
  if (!wanted) return wanted.error();
  const auto& snapshot = chosen->view->snapshot;
  if (!snapshot) return not_read(*chosen->view);
  if (auto why = mastership_hindrance(*chosen->view, "it does not know what is lost; ask the master"))
    return *std::move(why);
  if (!snapshot->inventory) return not_read(*chosen->view);
  auto known = *snapshot->inventory;
  const auto node = node_of(known, *wanted);
  if (!node) return node.error();
  const auto accepted = sm::accept_lost(known, *node);
  if (accepted.none() && !wanted->empty())
    return error_of(404, "not_lost", fmt::format("{} is not lost, nor is a link of it", *wanted));
  backend.accept_lost(chosen->index, *node);
  return answer_of(Json(JsonObject{{"subnet", text(chosen->view->name)},
                                   {"switches", number(accepted.switches)},
                                   {"hosts", number(accepted.hosts)},
                                   {"links", number(accepted.links)}}));
}

}  // namespace smd::api
