// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lists of any length: in pages where the client wants pages, and else in pieces.

#include <cstddef>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smd/api/router.h"
#include "smd/inventory/inventory.h"
#include "smd/report/json.h"

namespace smd::api {

/// A part of a list: at most `limit` entries that come after `after`.
struct Page {
  std::size_t limit = static_cast<std::size_t>(-1);
  std::string after;  ///< as the client has sent it; empty: from the first one
};
/// By `limit` and `cursor` of the query. 400: not a limit.
std::expected<Page, Answer> page_of(const Question& question);
/// 400: a value of the query, and what may stand there.
Answer bad_query(std::string_view key, std::string_view found, std::string_view allowed);
/// Whether the query says so: `key=true`, or the key alone. 400: neither that nor false.
std::expected<bool, Answer> flag_of(const Question& question, std::string_view key);
/// 400: not a cursor of this list.
Answer bad_cursor(std::string_view found);

struct Entry {
  sm::Json json;
  std::string cursor;  ///< of the page that follows it
};
/// The next entry of those that are meant; nothing: there are no more. Owns all it reads.
using Entries = std::move_only_function<std::optional<Entry>()>;

/// Members of the answer before the list and after it.
struct Around {
  sm::JsonObject before, after;
};
/// {before..., "name": [...], "next": cursor of the next page or null, after...}. A long one has a `rest`.
Answer listing(std::string_view name, const Page& page, Entries entries, Around around);

/// The same of a list that is short. Where the entry of the cursor is gone, the page begins with the first
/// one that has a greater cursor.
Answer short_listing(std::string_view name, const Page& page, std::vector<Entry> entries, Around around);

/// A port as a cursor: "0x0002c90000000001_1".
std::string cursor_of(const sm::LinkEnd& end);
/// Of cursor_of(); nothing for other texts.
std::optional<sm::LinkEnd> parse_port_cursor(std::string_view cursor);

}  // namespace smd::api
