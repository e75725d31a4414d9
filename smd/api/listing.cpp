// SPDX-License-Identifier: Apache-2.0
#include "smd/api/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "mad/base/parse.h"
#include "smd/api/json_out.h"

namespace smd::api {
namespace {

using sm::Json;
using sm::JsonObject;

constexpr std::size_t kPieceOfList = std::size_t{256} * 1024;

/// The text of a list, a piece at a time.
class ListText final : public Stream {
 public:
  ListText(std::string_view name, std::size_t limit, Entries entries, Around around)
      : name_(name), left_(limit), entries_(std::move(entries)), around_(std::move(around)) {}

  std::optional<std::string> next(std::int64_t, bool) override {
    if (ended_) return std::nullopt;
    std::string piece;
    if (!std::exchange(begun_, true)) begin(piece);
    while (piece.size() < kPieceOfList) {
      auto entry = entries_();
      if (!entry || left_ == 0) {
        end(piece, entry.has_value());
        return piece;
      }
      --left_;
      if (!last_.empty()) piece += ',';
      piece += sm::to_text(entry->json);
      last_ = std::move(entry->cursor);
    }
    return piece;
  }
  bool ended() const { return ended_; }

 private:
  static void add(std::string& text, const JsonObject& members) {
    for (const auto& [key, value] : members)
      text += fmt::format("{}:{},", sm::to_text(Json(key)), sm::to_text(value));
  }
  void begin(std::string& text) {
    text += '{';
    add(text, around_.before);
    text += sm::to_text(Json(name_)) + ":[";
  }
  void end(std::string& text, bool more) {
    text += "],";
    add(text, around_.after);
    text += "\"next\":" + (more ? sm::to_text(Json(last_)) : std::string("null")) + "}\n";
    ended_ = true;
  }

  std::string name_;
  std::size_t left_;
  Entries entries_;
  Around around_;
  std::string last_;  ///< cursor; empty: no entry yet
  bool begun_ = false, ended_ = false;
};

}  // namespace

std::expected<Page, Answer> page_of(const Question& question) {
  Page page{.after = question.asked("cursor")};
  if (question.query.contains("limit")) {
    const auto number = base::parse_number(question.asked("limit"), 1'000'000);
    if (!number || *number == 0)
      return std::unexpected(bad_query("limit", question.asked("limit"), "1 to 1000000"));
    page.limit = *number;
  }
  return page;
}

Answer bad_query(std::string_view key, std::string_view found, std::string_view allowed) {
  return error_of(400, "bad_query", fmt::format("{}: found \"{}\", allowed {}", key, found, allowed));
}

std::expected<bool, Answer> flag_of(const Question& question, std::string_view key) {
  const auto word = question.asked(key);
  const bool given = question.query.contains(std::string(key));
  if (given && word != "true" && word != "false" && !word.empty())
    return std::unexpected(bad_query(key, word, "true or false"));
  return given && word != "false";
}

Answer bad_cursor(std::string_view found) {
  return bad_query("cursor", found, "`next` of the answer before");
}

Answer listing(std::string_view name, const Page& page, Entries entries, Around around) {
  auto text = std::make_shared<ListText>(name, page.limit, std::move(entries), std::move(around));
  Answer answer{.status = 200, .body = *text->next(0, false), .bundle = nullptr, .allow = {}};
  if (!text->ended()) answer.rest = std::move(text);
  return answer;
}

Answer short_listing(std::string_view name, const Page& page, std::vector<Entry> entries, Around around) {
  std::size_t at = 0;
  if (!page.after.empty()) {
    const auto last = std::ranges::find(entries, page.after, &Entry::cursor);
    const auto next = last != entries.end() ? last + 1 : std::ranges::find_if(entries, [&](const Entry& one) {
      return one.cursor > page.after;
    });
    at = static_cast<std::size_t>(next - entries.begin());
  }
  return listing(
      name, page,
      [entries = std::move(entries), at]() mutable {
        return at < entries.size() ? std::optional(std::move(entries[at++])) : std::nullopt;
      },
      std::move(around));
}

std::string cursor_of(const sm::LinkEnd& end) { return fmt::format("{}_{}", end.node, end.port.value()); }

std::optional<sm::LinkEnd> parse_port_cursor(std::string_view cursor) {
  const auto mark = cursor.find('_');
  if (mark == std::string_view::npos) return std::nullopt;
  const auto node = base::parse_guid(cursor.substr(0, mark));
  const auto port = base::parse_number(cursor.substr(mark + 1), 255);
  if (!node || !port) return std::nullopt;
  return sm::LinkEnd{*node, PortNum{static_cast<std::uint8_t>(*port)}};
}

}  // namespace smd::api
