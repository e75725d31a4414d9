// SPDX-License-Identifier: Apache-2.0
#include "smd/api/scrape.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "mad/base/escaped.h"
#include "mad/base/parse.h"
#include "mad/base/rate.h"
#include "smd/api/gzip.h"

namespace smd::api {
namespace {

/// Gb/s of one lane: of data, and with the code's overhead (64/66 and 8/10).
struct LaneRate {
  LinkSpeed speed;
  double data, raw;
};
constexpr std::array kLanes{LaneRate{LinkSpeed::sdr, 2, 2.5},         LaneRate{LinkSpeed::ddr, 4, 5},
                            LaneRate{LinkSpeed::qdr, 8, 10},          LaneRate{LinkSpeed::fdr10, 10, 10.3125},
                            LaneRate{LinkSpeed::fdr, 13.64, 14.0625}, LaneRate{LinkSpeed::edr, 25, 25.78125},
                            LaneRate{LinkSpeed::hdr, 50, 53.125},     LaneRate{LinkSpeed::ndr, 100, 106.25},
                            LaneRate{LinkSpeed::xdr, 200, 212.5}};

std::set<std::string, std::less<>> families_of(const Question& question) {
  std::set<std::string, std::less<>> families;
  const auto text = question.asked("family");
  for (std::string_view rest = text; !rest.empty();) {
    const auto one = rest.substr(0, rest.find(','));
    if (!one.empty()) families.emplace(one);
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
  }
  return families;
}

/// The first of `wanted` that none of `families` writes. Each describes its own without a subnet too.
std::optional<std::string> unknown_family(const std::set<std::string, std::less<>>& wanted,
                                          std::span<const Families> families) {
  if (wanted.empty()) return std::nullopt;
  Scrape described{.subnets = {}, .node = {}, .guid = {}, .out = Exposition(wanted), .info = {}};
  for (const auto write : families) write(described);
  const auto text = described.out.take();
  const auto unknown = std::ranges::find_if_not(
      wanted, [&](const auto& name) { return text.find(fmt::format("# TYPE {} ", name)) != text.npos; });
  return unknown != wanted.end() ? std::optional(*unknown) : std::nullopt;
}

/// Seconds; after them the next scrape begins, however slowly the client of this one reads.
constexpr std::int64_t kLongestTurn = 30;

/// The text, a piece at a time, however many ports a family has.
class ScrapeText final : public Stream {
 public:
  ScrapeText(Scrape scrape, std::span<const Families> families, bool compressed, std::shared_ptr<void> turn)
      : scrape_(std::move(scrape)), families_(families), turn_(std::move(turn)) {
    if (compressed) gzip_ = std::make_unique<Gzip>();
  }

  std::optional<std::string> next(std::int64_t now, bool) override {
    if (ended_) return std::nullopt;
    if (began_ == 0) began_ = now;
    if (now - began_ > kLongestTurn) turn_.reset();
    std::string piece;
    while (piece.empty() && !ended_) {
      auto text = some();
      ended_ = families_.empty();
      piece = gzip_ ? gzip_->add(text, ended_) : std::move(text);
    }
    if (ended_) turn_.reset();
    if (piece.empty()) return std::nullopt;
    return piece;
  }
  bool ended() const { return ended_; }

 private:
  std::string some() {
    while (scrape_.out.size() < kPieceOfScrape && !families_.empty()) {
      families_.front()(scrape_);
      if (!scrape_.rest) families_ = families_.subspan(1);
    }
    return scrape_.out.take();
  }

  Scrape scrape_;
  std::span<const Families> families_;
  std::shared_ptr<void> turn_;
  std::unique_ptr<Gzip> gzip_;
  std::int64_t began_ = 0;  ///< 0: the first piece is in the answer
  bool ended_ = false;
};

}  // namespace

std::optional<Rate> port_rate(const sm::Port& port) {
  if (!port.linked()) return std::nullopt;
  const auto speed = wire::link_speed(port.info, port.mlnx);
  const auto lane = std::ranges::find(kLanes, speed, &LaneRate::speed);
  const auto count = lanes(static_cast<LinkWidth>(port.info.link_width_active));
  if (lane == kLanes.end() || count == 0) return std::nullopt;
  return Rate{.data = lane->data * count * 1.25e8,
              .raw = lane->raw * count * 1.25e8,
              .lane = lane->raw,
              .lanes = count};
}

Answer scrape(const Question& question, Backend& backend, std::span<const Families> families) {
  auto wanted = families_of(question);
  if (const auto unknown = unknown_family(wanted, families))
    return error_of(
        400, "bad_query",
        fmt::format("family: no {} here; docs/metrics.md has the names, and the path of each", *unknown));
  auto turn = backend.scrape_lock();
  if (!turn) return error_of(503, "busy", "another scrape is being sent: again in a second");
  Scrape scrape{.subnets = {},
                .node = base::kept_name(question.asked("node")),
                .guid = base::parse_guid(question.asked("node")),
                .out = Exposition(std::move(wanted)),
                .info = backend.info()};
  for (const auto& view : backend.subnets()) {
    if (question.access->in(view->name)) scrape.subnets.push_back({view, {}});
  }
  if (scrape.subnets.size() > 1) {
    for (auto& subnet : scrape.subnets) subnet.label = "subnet";
  }
  const bool compressed = takes_gzip(question.request->accept_encoding);
  auto text = std::make_shared<ScrapeText>(std::move(scrape), families, compressed, std::move(turn));
  Answer answer{.status = 200, .body = text->next(0, false).value_or(""), .bundle = nullptr, .allow = {}};
  answer.type = "text/plain; version=0.0.4; charset=utf-8";
  answer.headers.emplace_back("Vary", "Accept-Encoding");
  if (compressed) answer.headers.emplace_back("Content-Encoding", "gzip");
  if (!text->ended()) answer.rest = std::move(text);
  return answer;
}

}  // namespace smd::api
