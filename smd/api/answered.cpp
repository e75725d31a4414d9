// SPDX-License-Identifier: Apache-2.0
#include "smd/api/answered.h"

#include <fmt/format.h>

#include <algorithm>

#include "smd/access/token.h"

namespace smd::api {
namespace {

constexpr std::size_t kLongestKey = 255;

bool is_key(std::string_view key) {
  return key.size() <= kLongestKey && std::ranges::all_of(key, [](char c) { return c > ' ' && c <= '~'; });
}

}  // namespace

std::expected<Once, Answer> once_of(const Request& request, const std::string& caller,
                                    std::string_view path) {
  if (!is_key(request.idempotency_key))
    return std::unexpected(
        error_of(400, "bad_key", "Idempotency-Key: 1 to 255 printable characters of ASCII, no blank"));
  // A newline is in none of them.
  const auto scope = fmt::format("{}\n{}\n{}\n{}", caller, request.method, path, request.idempotency_key);
  return Once{.scope = access::hash_of(scope), .digest = access::hash_of(request.body)};
}

std::optional<Answer> answered_before(const policy::KeptAnswers& kept, const Once& once, std::int64_t now) {
  const auto at = kept.find(once.scope);
  if (at == kept.end() || now - at->second->made >= policy::kAnswerKept) return std::nullopt;
  const auto& before = *at->second;
  if (before.digest != once.digest)
    return error_of(422, "key_reused",
                    "Idempotency-Key: this key came with another body before; a new request needs a new key");
  Answer answer{.status = before.status, .body = before.body, .bundle = nullptr, .allow = {}};
  answer.headers.emplace_back("Idempotent-Replayed", "true");
  return answer;
}

std::optional<Answer> Answered::find(const Once& once, std::int64_t now) const {
  const std::scoped_lock lock(mutex_);
  return answered_before(kept_, once, now);
}

std::optional<Answer> Answered::begin(const Once& once, std::int64_t now) {
  const std::scoped_lock lock(mutex_);
  if (under_way_.contains(once.scope))
    return error_of(409, "in_progress", "a request with this Idempotency-Key is being answered");
  if (auto before = answered_before(kept_, once, now)) return before;
  under_way_.emplace(once.scope, once.digest);
  return std::nullopt;
}

void Answered::end(const Once& once, const Answer& answer, std::int64_t now) {
  const std::scoped_lock lock(mutex_);
  under_way_.erase(once.scope);
  if (answer.status / 100 != 2) return;
  policy::keep_answer(kept_, once.scope,
                      {.digest = once.digest, .status = answer.status, .body = answer.body, .made = now});
}

}  // namespace smd::api
