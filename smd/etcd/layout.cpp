// SPDX-License-Identifier: Apache-2.0
#include "smd/etcd/layout.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>
#include <span>
#include <utility>

#include "smd/replica/bytes.h"

namespace smd::etcd {
namespace {

/// The numbers of a text with single blanks between them.
template <std::size_t N>
std::optional<std::array<std::uint64_t, N>> numbers_of(std::string_view text, int base) {
  std::array<std::uint64_t, N> numbers{};
  const char* at = text.data();
  const char* const last = text.data() + text.size();
  for (std::size_t i = 0; i < N; ++i) {
    if (i > 0) {
      if (at == last || *at != ' ') return std::nullopt;
      ++at;
    }
    const auto [end, error] = std::from_chars(at, last, numbers.at(i), base);
    if (error != std::errc{}) return std::nullopt;
    at = end;
  }
  return at == last ? std::optional(numbers) : std::nullopt;
}

constexpr std::string_view kLeft = "/left";

std::string place_text(const Position& at) { return fmt::format("{:016x}-{:016x}", at.epoch, at.number); }

/// The first key after all that begin with `prefix`, which ends with a slash.
std::string after_all(std::string prefix) {
  prefix.back() = '/' + 1;
  return prefix;
}

/// What the key of a row of a frame ends with: "NUMBER/PIECE-PIECES".
struct Ending {
  std::uint64_t number = 0;
  std::uint32_t piece = 0, pieces = 0;
};
constexpr std::size_t kEnding = 16 + 1 + 4 + 1 + 4;

std::string ending_text(const Ending& ending) {
  return fmt::format("{:016x}/{:04x}-{:04x}", ending.number, ending.piece, ending.pieces);
}

std::optional<Ending> ending_of(std::string_view key) {
  if (key.size() < kEnding) return std::nullopt;
  std::string text(key.substr(key.size() - kEnding));
  if (text[16] != '/' || text[21] != '-') return std::nullopt;
  text[16] = text[21] = ' ';
  const auto numbers = numbers_of<3>(text, 16);
  if (!numbers) return std::nullopt;
  const auto [number, piece, pieces] = *numbers;
  return Ending{number, static_cast<std::uint32_t>(piece), static_cast<std::uint32_t>(pieces)};
}

std::vector<Row> cut(const std::string& folder, std::uint64_t number, std::string_view frame) {
  const auto pieces = static_cast<std::uint32_t>((frame.size() + kPiece - 1) / kPiece);
  std::vector<Row> rows;
  for (std::uint32_t i = 0; i < pieces; ++i) {
    rows.push_back({.key = folder + ending_text({.number = number, .piece = i, .pieces = pieces}),
                    .value = std::string(frame.substr(i * kPiece, kPiece))});
  }
  return rows;
}

}  // namespace

std::string to_text(const Term& term) {
  return fmt::format("{:016x} {:016x}", term.epoch, term.port.value());
}

std::optional<Term> term_of(std::string_view text) {
  const auto numbers = numbers_of<2>(text, 16);
  if (!numbers || numbers->at(0) > replica::kLargestEpoch) return std::nullopt;
  return Term{.epoch = numbers->at(0), .port = Guid{numbers->at(1)}};
}

std::string to_text(const Position& at) { return fmt::format("{} {}", at.epoch, at.number); }

std::optional<Position> position_of(std::string_view text) {
  const auto numbers = numbers_of<2>(text, 10);
  if (!numbers) return std::nullopt;
  return Position{.epoch = numbers->at(0), .number = numbers->at(1)};
}

std::string to_text(const Head& head) {
  return fmt::format("{} {} {} {} {} {}", head.min_reader, to_text(head.latest), head.source.value(),
                     to_text(head.snapshot), head.chunks, kLayout);
}

std::optional<Head> head_of(std::string_view text) {
  const auto numbers = numbers_of<8>(text, 10);
  if (!numbers) return std::nullopt;
  const auto& [min_reader, epoch, number, source, of_epoch, of_number, chunks, version] = *numbers;
  const bool fits = min_reader <= std::numeric_limits<std::uint16_t>::max() &&
                    chunks <= std::numeric_limits<std::uint32_t>::max();
  if (!fits || version < min_reader) return std::nullopt;
  return Head{.min_reader = static_cast<std::uint16_t>(min_reader),
              .latest = {.epoch = epoch, .number = number},
              .source = Guid{source},
              .snapshot = {.epoch = of_epoch, .number = of_number},
              .chunks = static_cast<std::uint32_t>(chunks)};
}

Layout::Layout(const std::string& prefix, const std::string& subnet)
    : root_(fmt::format("{}/{}/", prefix, subnet.empty() ? "default" : subnet)) {}

Span Layout::live() const { return {root_ + "live/", after_all(root_ + "live/")}; }

Span Layout::snapshot(const Position& of, std::uint32_t from) const {
  const auto folder = fmt::format("{}snapshot/{}/", root_, place_text(of));
  return {folder + fmt::format("{:016x}/", from), after_all(folder)};
}

Span Layout::log(std::uint64_t epoch, std::uint64_t from, std::uint64_t before) const {
  const auto folder = fmt::format("{}log/{:016x}/", root_, epoch);
  return {folder + fmt::format("{:016x}/", from), folder + fmt::format("{:016x}/", before)};
}

std::vector<Span> Layout::before(const Position& snapshot) const {
  const auto all = root_ + "snapshot/";
  const auto kept = fmt::format("{}{}/", all, place_text(snapshot));
  const auto logs = root_ + "log/";
  return {{all, kept},
          {after_all(kept), after_all(all)},
          {logs, log(snapshot.epoch, snapshot.number + 1, snapshot.number + 1).key}};
}

Span Layout::standbys() const { return {root_ + "standby/", after_all(root_ + "standby/")}; }

std::string Layout::standby(Guid port) const { return fmt::format("{}standby/{:016x}", root_, port.value()); }

std::optional<Guid> Layout::standby_of(std::string_view key) const {
  const auto folder = root_ + "standby/";
  if (!key.starts_with(folder)) return std::nullopt;
  const auto number = numbers_of<1>(key.substr(folder.size()), 16);
  return number ? std::optional(Guid{number->front()}) : std::nullopt;
}

Span Layout::left(Guid port) const {
  auto folder = fmt::format("{}left/{:016x}/", root_, port.value());
  auto end = after_all(folder);
  return {std::move(folder), std::move(end)};
}

std::string Layout::left_mark(Guid port) const { return standby(port).append(kLeft); }

std::optional<Guid> Layout::left_mark_of(std::string_view key) const {
  if (!key.ends_with(kLeft)) return std::nullopt;
  return standby_of(key.substr(0, key.size() - kLeft.size()));
}

std::vector<Row> Layout::chunk_rows(const Position& of, std::uint32_t index, std::string_view frame) const {
  return cut(fmt::format("{}snapshot/{}/", root_, place_text(of)), index, frame);
}

std::vector<Row> Layout::log_rows(const Position& at, std::string_view frame) const {
  return cut(fmt::format("{}log/{:016x}/", root_, at.epoch), at.number, frame);
}

std::vector<Row> Layout::left_rows(Guid port, std::uint32_t index, std::string_view frame) const {
  return cut(left(port).key, index, frame);
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  const auto numbers = numbers_of<1>(text, 10);
  return numbers ? std::optional(numbers->front()) : std::nullopt;
}

Live live_of(const RangeAnswer& answer, const Layout& layout) {
  Live live{.revision = answer.revision};
  for (const auto& row : answer.rows) {
    if (row.key == layout.epoch()) live.holder_text = row.value;
    if (row.key == layout.alive()) live.alive = term_of(row.value);
    if (row.key == layout.head()) live.head = head_of(row.value);
    if (row.key == layout.digests()) live.digests = row.value;
  }
  if (!live.holder_text.empty()) live.holder = term_of(live.holder_text);
  return live;
}

std::expected<std::optional<std::string>, std::string> Joiner::add(const Row& row) {
  const auto ending = ending_of(row.key);
  if (!ending) return std::unexpected("an unexpected key");
  if (ending->number != next_ || ending->piece != piece_ || ending->piece >= ending->pieces)
    return std::unexpected(fmt::format("piece {} of frame {} after piece {} of frame {}", ending->piece,
                                       ending->number, piece_, next_));
  frame_ += row.value;
  if (++piece_ < ending->pieces) return std::nullopt;
  piece_ = 0;
  ++next_;
  return std::exchange(frame_, {});
}

Opened open_frame(const Bytes& frame) {
  constexpr std::size_t kLength = 4;
  constexpr std::uint8_t kChunk = 4, kTransaction = 5, kDigests = 8;
  if (frame.size() <= kLength) return {};
  replica::Reader in(std::span(frame).subspan(kLength));
  const auto type = in.u8();
  Opened opened;
  if (type == kChunk) opened.kind = Opened::Kind::chunk;
  if (type == kTransaction) opened.kind = Opened::Kind::transaction;
  if (type == kDigests) opened.kind = Opened::Kind::digests;
  if (opened.kind == Opened::Kind::other) return opened;
  opened.at.epoch = in.u64();
  opened.at.number = in.u64();
  if (opened.kind != Opened::Kind::chunk) return opened;
  opened.source = Guid{in.u64()};
  opened.index = in.u32();
  opened.count = in.u32();
  return opened;
}

}  // namespace smd::etcd
