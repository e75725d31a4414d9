// SPDX-License-Identifier: Apache-2.0
// Source: https://etcd.io/docs/v3.4/dev-guide/api_grpc_gateway/ and the answers of etcd 3.4.23.
#include "smd/etcd/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/stream_parser.hpp>
#include <charconv>
#include <iterator>
#include <optional>
#include <utility>

#include "smd/base/base64.h"

namespace smd::etcd {
namespace {

namespace json = boost::json;

/// gRPC's numbers for what went wrong.
constexpr std::int64_t kExhausted = 8, kOutOfRange = 11, kUnavailable = 14;

std::unexpected<Error> senseless(std::string_view what) {
  return std::unexpected(
      Error{.kind = ErrorKind::unreachable, .text = fmt::format("a malformed answer: {}", what)});
}

const json::value* member(const json::value& from, std::string_view name) {
  const auto* object = from.if_object();
  return object != nullptr ? object->if_contains(name) : nullptr;
}

std::string text_at(const json::value& from, std::string_view name) {
  const auto* value = member(from, name);
  const auto* text = value != nullptr ? value->if_string() : nullptr;
  return text != nullptr ? std::string(text->data(), text->size()) : std::string();
}

bool flag_at(const json::value& from, std::string_view name) {
  const auto* value = member(from, name);
  const auto* flag = value != nullptr ? value->if_bool() : nullptr;
  return flag != nullptr && *flag;
}

/// 0 where it is not there, nothing where it is no number.
std::optional<std::int64_t> number_at(const json::value& from, std::string_view name) {
  const auto* value = member(from, name);
  if (value == nullptr) return 0;
  if (const auto* number = value->if_int64()) return *number;
  const auto* text = value->if_string();
  if (text == nullptr) return std::nullopt;
  std::int64_t number = 0;
  const auto* last = text->data() + text->size();
  const auto [end, error] = std::from_chars(text->data(), last, number);
  return error == std::errc{} && end == last && number >= 0 ? std::optional(number) : std::nullopt;
}

std::optional<std::int64_t> revision_of(const json::value& answer) {
  const auto* header = member(answer, "header");
  const auto revision = header != nullptr ? number_at(*header, "revision") : std::nullopt;
  return revision && *revision > 0 ? revision : std::nullopt;
}

/// What etcd says instead of an answer; a watch has it one level deeper.
Error error_of(const json::value& said) {
  const auto* inner = member(said, "error");
  const bool nested = inner != nullptr && inner->is_object();
  const auto& error = nested ? *inner : said;
  const auto code = number_at(error, nested ? "grpc_code" : "code").value_or(0);
  auto text = text_at(error, "message");
  if (text.empty()) text = text_at(error, "error");
  ErrorKind kind = ErrorKind::refused;
  if (code == kExhausted && text.find("space") != std::string::npos) kind = ErrorKind::full;
  if (code == kOutOfRange && text.find("compacted") != std::string::npos) kind = ErrorKind::compacted;
  if (code == kUnavailable || text.find("timed out") != std::string::npos ||
      text.find("no leader") != std::string::npos)
    kind = ErrorKind::unreachable;
  // One line of a log, whatever came.
  for (auto& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  constexpr std::size_t kLongest = 200;
  text.resize(std::min(text.size(), kLongest));
  return {.kind = kind, .text = text.empty() ? fmt::format("etcd's error {}", code) : std::move(text)};
}

std::expected<json::value, Error> parsed(std::string_view text) {
  json::stream_parser parser;
  error_code error;
  const auto read = parser.write_some(text.data(), text.size(), error);
  if (!error) parser.finish(error);
  if (error) return senseless(error.message());
  if (text.substr(read).find_first_not_of(" \t\r\n") != std::string_view::npos)
    return senseless("more after its end");
  auto value = parser.release();
  if (!value.is_object()) return senseless("no object");
  return value;
}

std::expected<json::value, Error> good(unsigned status, std::string_view body) {
  auto value = parsed(body);
  if (status / 100 == 2) return value;
  if (value) return std::unexpected(error_of(*value));
  return std::unexpected(Error{.kind = status / 100 == 5 ? ErrorKind::unreachable : ErrorKind::refused,
                               .text = fmt::format("HTTP status {}", status)});
}

void add_key(std::string& body, std::string_view key, std::string_view end) {
  body += fmt::format("\"key\":\"{}\",\"range_end\":\"{}\"", sm::to_base64(key), sm::to_base64(end));
}

}  // namespace

std::string range_body(const RangeAsk& ask) {
  std::string body = "{";
  add_key(body, ask.key, ask.end);
  if (ask.revision != 0) body += fmt::format(",\"revision\":\"{}\"", ask.revision);
  if (ask.limit != 0) body += fmt::format(",\"limit\":\"{}\"", ask.limit);
  if (ask.keys_only) body += ",\"keys_only\":true";
  return body + "}";
}

std::string transaction_body(const Transaction& transaction) {
  std::string body = "{\"compare\":[";
  std::string_view comma;
  for (const auto& guard : transaction.guards) {
    const auto key = sm::to_base64(guard.key);
    body += std::exchange(comma, ",");
    body += guard.absent ? fmt::format("{{\"key\":\"{}\",\"target\":\"VERSION\",\"version\":\"0\"}}", key)
                         : fmt::format("{{\"key\":\"{}\",\"target\":\"VALUE\",\"value\":\"{}\"}}", key,
                                       sm::to_base64(guard.value));
  }
  body += "],\"success\":[";
  comma = {};
  for (const auto& put : transaction.puts) {
    body += std::exchange(comma, ",");
    body += fmt::format("{{\"request_put\":{{\"key\":\"{}\",\"value\":\"{}\"", sm::to_base64(put.key),
                        sm::to_base64(put.value));
    if (put.lease != 0) body += fmt::format(",\"lease\":\"{}\"", put.lease);
    body += "}}";
  }
  for (const auto& erase : transaction.erases) {
    body += std::exchange(comma, ",");
    body += "{\"request_delete_range\":{";
    add_key(body, erase.key, erase.end);
    body += "}}";
  }
  return body + "]}";
}

std::string grant_body(std::chrono::seconds time) { return fmt::format("{{\"TTL\":\"{}\"}}", time.count()); }

std::string lease_body(std::int64_t lease) { return fmt::format("{{\"ID\":\"{}\"}}", lease); }

std::string watch_body(std::string_view key, std::string_view end, std::int64_t revision) {
  std::string body = "{\"create_request\":{";
  add_key(body, key, end);
  return body + fmt::format(",\"start_revision\":\"{}\"}}}}", revision);
}

std::expected<RangeAnswer, Error> range_answer(unsigned status, std::string_view body) {
  const auto said = good(status, body);
  if (!said) return std::unexpected(said.error());
  const auto revision = revision_of(*said);
  if (!revision) return senseless("no revision");
  RangeAnswer answer{.revision = *revision, .rows = {}, .more = flag_at(*said, "more")};
  const auto* rows = member(*said, "kvs");
  if (rows == nullptr) return answer;
  if (!rows->is_array()) return senseless("kvs is no array");
  for (const auto& row : rows->get_array()) {
    auto key = sm::from_base64(text_at(row, "key"));
    auto value = sm::from_base64(text_at(row, "value"));
    if (!key || key->empty() || !value) return senseless("a key without bytes");
    answer.rows.push_back({.key = *std::move(key), .value = *std::move(value)});
  }
  return answer;
}

std::expected<TransactionAnswer, Error> transaction_answer(unsigned status, std::string_view body) {
  const auto said = good(status, body);
  if (!said) return std::unexpected(said.error());
  const auto revision = revision_of(*said);
  if (!revision) return senseless("no revision");
  return TransactionAnswer{.done = flag_at(*said, "succeeded"), .revision = *revision};
}

std::expected<std::int64_t, Error> grant_answer(unsigned status, std::string_view body) {
  const auto said = good(status, body);
  if (!said) return std::unexpected(said.error());
  const auto lease = number_at(*said, "ID").value_or(0);
  if (lease == 0) return senseless("no lease");
  return lease;
}

std::expected<bool, Error> renew_answer(unsigned status, std::string_view body) {
  const auto said = good(status, body);
  if (!said) return std::unexpected(said.error());
  if (member(*said, "error") != nullptr) return std::unexpected(error_of(*said));
  const auto* result = member(*said, "result");
  if (result == nullptr) return senseless("no result");
  return number_at(*result, "TTL").value_or(0) > 0;
}

std::expected<bool, Error> revoke_answer(unsigned status, std::string_view body) {
  const auto said = good(status, body);
  if (!said) return std::unexpected(said.error());
  return true;
}

std::expected<std::int64_t, Error> watch_word(std::string_view line) {
  const auto said = parsed(line);
  if (!said) return std::unexpected(said.error());
  if (member(*said, "error") != nullptr) return std::unexpected(error_of(*said));
  const auto* result = member(*said, "result");
  if (result == nullptr) return senseless("no result");
  if (number_at(*result, "compact_revision").value_or(0) > 0)
    return std::unexpected(Error{.kind = ErrorKind::compacted, .text = "what is watched was compacted"});
  if (flag_at(*result, "canceled"))
    return std::unexpected(Error{.kind = ErrorKind::refused, .text = "etcd has ended the watch"});
  const auto* events = member(*result, "events");
  if (events == nullptr) return 0;
  const auto revision = revision_of(*result);
  if (!revision) return senseless("no revision");
  return *revision;
}

}  // namespace smd::etcd
