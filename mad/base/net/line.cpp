// SPDX-License-Identifier: Apache-2.0
// The format: ibnetdiscover(8), section TOPOLOGY FILE FORMAT, and what the tool of rdma-core 44 prints; the
// dialect: ibsim's README and sample files.
#include "mad/base/net/line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mad/base/parse.h"

namespace smd::base::net {
namespace {

constexpr std::string_view kSpace = " \t";

std::string_view skip_space(std::string_view text) {
  const auto first = text.find_first_not_of(kSpace);
  return first == std::string_view::npos ? std::string_view{} : text.substr(first);
}

std::unexpected<std::string> wrong(std::string what) { return std::unexpected(std::move(what)); }

/// A line, eaten from the front.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}
  std::string_view rest() const { return rest_; }
  bool at(char c) const { return rest_.starts_with(c); }
  void skip_spaces() { rest_ = skip_space(rest_); }
  /// What stands between `open`, which comes next, and the first `close` behind it.
  std::optional<std::string_view> enclosed(char open, char close) {
    if (!at(open)) return std::nullopt;
    const auto end = rest_.find(close, 1);
    if (end == std::string_view::npos) return std::nullopt;
    const auto inside = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return inside;
  }
  /// Digits that come next.
  std::string_view digits() {
    const auto end = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    const auto text = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return text;
  }

 private:
  std::string_view rest_;
};

/// The text behind the first '#', if there is one; `text` keeps what is before it.
std::optional<std::string_view> take_comment(std::string_view& text) {
  const auto hash = text.find('#');
  if (hash == std::string_view::npos) return std::nullopt;
  const auto comment = skip_space(text.substr(hash + 1));
  text = text.substr(0, hash);
  return comment;
}

/// Where a name ends that has no quotes, as ibsim has it.
std::size_t end_of_bare_name(std::string_view comment) {
  for (const std::string_view mark : {" enhanced port ", " base port ", " lid ", " lmc "}) {
    if (const auto at = comment.find(mark); at != std::string_view::npos) return at;
  }
  return comment.size();
}

/// The word behind `key` ("lid") in `text`; empty where the key is not there.
std::string_view word_after(std::string_view text, std::string_view key) {
  for (std::size_t at = 0; (at = text.find(key, at)) != std::string_view::npos; at += key.size()) {
    const bool starts = at == 0 || kSpace.find(text[at - 1]) != std::string_view::npos;
    const auto behind = text.substr(at + key.size());
    if (!starts || behind.empty() || kSpace.find(behind.front()) == std::string_view::npos) continue;
    const auto word = skip_space(behind);
    return word.substr(0, word.find_first_of(kSpace));
  }
  return {};
}

/// "lid 5 lmc 0" anywhere in the text; what is not there stays as it is. Empty, or what is wrong.
std::string parse_lid_and_lmc(std::string_view text, std::optional<Lid>& lid, std::uint8_t& lmc) {
  if (const auto word = word_after(text, "lid"); !word.empty()) {
    lid = parse_lid(word);
    if (!lid) return fmt::format("lid is {}: a number from 0 to 65535 is needed", show(word));
  }
  if (const auto word = word_after(text, "lmc"); !word.empty()) {
    const auto value = parse_number(word, 7);
    if (!value) return fmt::format("lmc is {}: a number from 0 to 7 is needed", show(word));
    lmc = static_cast<std::uint8_t>(*value);
  }
  return {};
}

bool looks_like_rate(std::string_view word) {
  if (word.starts_with('?')) return true;
  const auto digits = std::min(word.find_first_not_of("0123456789"), word.size());
  return digits != 0 && word.substr(digits).starts_with('x');
}

/// `lid 6 4xEDR s=16 w=2 v=4`: the other end's LID and the link's rate, which may have several words
/// ("4x ??? (IBA extension)"); what -f adds is known from the rate.
std::string parse_remote(std::string_view tail, PortLine& port) {
  std::optional<Lid> lid;
  std::uint8_t none = 0;
  auto rest = skip_space(tail);
  if (auto what = parse_lid_and_lmc(rest, lid, none); !what.empty()) return what;
  port.remote_lid = lid.value_or(Lid{});
  while (!rest.empty()) {
    const auto word = rest.substr(0, rest.find_first_of(kSpace));
    const bool goes_on = !port.rate.empty() && word.find('=') == std::string_view::npos;
    if (goes_on || (port.rate.empty() && looks_like_rate(word)))
      port.rate = port.rate.empty() ? word : std::string_view(port.rate.begin(), word.end());
    else if (!port.rate.empty())
      break;
    rest = skip_space(rest.substr(word.size()));
  }
  return {};
}

std::string parse_port_comment(NodeType type, std::string_view comment, PortLine& port) {
  const auto first = comment.find('"'), last = comment.rfind('"');
  auto head = comment.substr(0, first), tail = comment;
  if (first != std::string_view::npos) {
    tail = comment.substr(last + 1);
  } else if (type !=
             NodeType::switch_) {  // `lid 4 lmc 0 lid 6 4xEDR`: the second lid starts the other end's part
    const auto second = comment.find(" lid ");
    head = comment.substr(0, second);
    tail = second == std::string_view::npos ? std::string_view{} : comment.substr(second);
  }
  if (type != NodeType::switch_) {
    if (auto what = parse_lid_and_lmc(head, port.lid, port.lmc); !what.empty()) return what;
  }
  return parse_remote(tail, port);
}

/// ` w=4 s=1`: ibsim's options, known by their first letter as ibsim does.
std::string parse_options(std::string_view text, Enabled& enabled) {
  struct Option {
    char letter;
    std::uint8_t* value;
    std::uint64_t first, last;
  };
  const std::array options{Option{'w', &enabled.width, 1, 31}, Option{'s', &enabled.speed, 0, 7},
                           Option{'e', &enabled.speed_ext, 0, 31}};
  while (!text.empty()) {
    const auto word = take_word(text);
    const auto equals = word.find('=');
    const auto option = std::ranges::find(options, word.front(), &Option::letter);
    if (equals == std::string_view::npos || option == options.end()) {
      return fmt::format("{} behind the link: only w=, s= and e= are known here", show(word));
    }
    const auto value = parse_number(word.substr(equals + 1), option->last);
    if (!value || *value < option->first) {
      return fmt::format("{}: a bit mask from {} to {} is needed", show(word), option->first, option->last);
    }
    *option->value =
        static_cast<std::uint8_t>(option->letter == 's' && *value == 0 ? 4 : *value);  // 0 is QDR there
  }
  return {};
}

/// `(2c90000000071)` and `[ext 5]` behind a port, in any order, either may be missing.
std::string parse_guid_and_ext(Cursor& cursor, Guid& guid) {
  for (;; cursor.skip_spaces()) {
    if (cursor.rest().starts_with("[ext")) {
      if (!cursor.enclosed('[', ']')) return "'[ext' without ']'";
      continue;
    }
    if (!cursor.at('(')) return {};
    const auto before = cursor.rest();
    const auto text = cursor.enclosed('(', ')');
    const auto value = text ? parse_hex(trim(*text)) : std::nullopt;
    if (!value) {
      return fmt::format("port GUID {}: up to 16 hexadecimal digits in '()' are needed",
                         show(text.value_or(before)));
    }
    guid = Guid{*value};
  }
}

std::expected<std::uint64_t, std::string> parse_bracketed_port(Cursor& cursor) {
  const auto text = cursor.enclosed('[', ']');
  const auto value = text ? parse_number(trim(*text)) : std::nullopt;
  if (!value) return std::unexpected(std::string("a port number in '[]' is needed"));
  return *value;
}

}  // namespace

std::string show(std::string_view found) {
  constexpr std::size_t kLongest = 60;
  std::string text = "'";
  for (const char c : found.substr(0, kLongest))
    text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return text + (found.size() > kLongest ? "…'" : "'");
}

std::expected<std::uint64_t, std::string> parse_value(std::string_view text, std::uint64_t last) {
  const auto word = take_word(text);
  const auto value = parse_number(word, last);
  if (!value) return wrong(fmt::format("{}: a number from 0 to 0x{:x} is needed", show(word), last));
  return *value;
}

std::expected<NodeLine, std::string> parse_node_line(NodeType type, std::string_view rest) {
  NodeLine node;
  node.type = type;
  Cursor cursor(skip_space(rest));
  const auto digits = cursor.digits();
  if (digits.empty()) return wrong("the number of ports is needed behind the node's type");
  const auto ports = parse_number(digits, 254);
  if (!ports || *ports == 0) return wrong(fmt::format("{} ports: a number from 1 to 254 is needed", digits));
  node.ports = static_cast<unsigned>(*ports);
  cursor.skip_spaces();
  const auto id = cursor.enclosed('"', '"');
  if (!id || id->empty()) return wrong("the node's id in quotes is needed behind the number of ports");
  node.id = *id;

  auto behind = cursor.rest();
  const auto comment = take_comment(behind);
  if (!trim(behind).empty())
    return wrong(fmt::format("{} behind the node's id: a comment is needed", show(trim(behind))));
  if (!comment) return node;
  auto tail = *comment;
  if (const auto quote = comment->rfind('"'); comment->starts_with('"') && quote != 0) {
    node.name = comment->substr(1, quote - 1);
    tail = comment->substr(quote + 1);
  } else if (const auto end = end_of_bare_name(*comment); end != 0) {
    node.name = trim(comment->substr(0, end));
    tail = comment->substr(end);
  }
  node.enhanced_port0 = type == NodeType::switch_ && tail.find("enhanced port 0") != std::string_view::npos;
  std::optional<Lid> lid;
  if (auto what = parse_lid_and_lmc(tail, lid, node.lmc); !what.empty()) return wrong(std::move(what));
  node.lid = lid.value_or(Lid{});
  return node;
}

std::expected<PortLine, std::string> parse_port_line(NodeType type, std::string_view line) {
  PortLine port;
  port.alias = line.starts_with('@');
  Cursor cursor(port.alias ? line.substr(1) : line);
  const auto number = parse_bracketed_port(cursor);
  if (!number) return wrong(number.error());
  port.port = *number;
  cursor.skip_spaces();
  if (auto what = parse_guid_and_ext(cursor, port.guid); !what.empty()) return wrong(std::move(what));
  const auto id = cursor.enclosed('"', '"');
  if (!id || id->empty()) return wrong("the id of the node at the other end, in quotes, is needed");
  port.remote_id = *id;
  cursor.skip_spaces();
  if (cursor.at('[') && !cursor.rest().starts_with("[ext")) {
    const auto remote = parse_bracketed_port(cursor);
    if (!remote) return wrong(remote.error());
    port.remote_port = *remote;
  }
  cursor.skip_spaces();
  if (auto what = parse_guid_and_ext(cursor, port.remote_guid); !what.empty()) return wrong(std::move(what));

  auto options = cursor.rest();
  const auto comment = take_comment(options);
  if (auto what = parse_options(trim(options), port.enabled); !what.empty()) return wrong(std::move(what));
  if (comment) {
    if (auto what = parse_port_comment(type, *comment, port); !what.empty()) return wrong(std::move(what));
  }
  return port;
}

}  // namespace smd::base::net
