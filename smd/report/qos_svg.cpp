// SPDX-License-Identifier: Apache-2.0
#include "smd/report/qos_svg.h"

#include <fmt/format.h>

#include <array>
#include <ostream>
#include <string>
#include <string_view>

namespace smd::sm::inline reports {
namespace {

constexpr int kSvgWidth = 760, kLeft = 20, kBarWidth = 720, kBarHeight = 36, kRow = 20, kHead = 56, kGap = 30;
constexpr double kLeastLabel = 70;  ///< a narrower part has no text in it
constexpr int kRate = 400;          ///< Gb/s that rows name
/// Colours that people with colour blindness tell apart (Okabe and Ito), light enough for black text.
constexpr std::array<std::string_view, 8> kColours{"#56b4e9", "#e69f00", "#009e73", "#f0e442",
                                                   "#cc79a7", "#d55e00", "#8fb8de", "#bbbbbb"};

std::string xml_text(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '&':
        safe += "&amp;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return safe;
}

std::string_view colour_of(Sl sl) { return kColours[sl.value() % kColours.size()]; }

std::string name_of(const QosExplanation& explanation, Sl sl) {
  const auto use = explanation.uses.find(sl);
  if (use == explanation.uses.end()) return fmt::format("SL {}", sl);
  if (!use->second.name.empty()) return use->second.name;
  return use->second.by.empty() ? fmt::format("SL {}", sl) : use->second.by.front();
}

void write_text(std::ostream& out, double x, int y, std::string_view text, std::string_view more = {}) {
  out << fmt::format("<text x=\"{:.1f}\" y=\"{}\"{}>{}</text>\n", x, y, more, xml_text(text));
}

void write_bar(std::ostream& out, const QosKindView& kind, int y) {
  double x = kLeft;
  for (const auto& lane : kind.lanes) {
    const double width = kBarWidth * lane.share;
    if (width <= 0) continue;
    out << fmt::format(
        "<rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\" stroke=\"#333\"{}/>\n", x, y,
        width, kBarHeight, colour_of(lane.sl), lane.high != 0 ? " stroke-width=\"3\"" : "");
    if (width >= kLeastLabel)
      write_text(out, x + width / 2, y + 22,
                 fmt::format("VL {} {:.0f} %", lane.vl->value(), 100 * lane.share),
                 " text-anchor=\"middle\"");
    x += width;
  }
}

void write_rows(std::ostream& out, const QosExplanation& explanation, const QosKindView& kind, int y) {
  for (const auto& lane : kind.lanes) {
    out << fmt::format("<rect x=\"{}\" y=\"{}\" width=\"12\" height=\"12\" fill=\"{}\" stroke=\"#333\"/>\n",
                       kLeft, y - 11, colour_of(lane.sl));
    const auto where =
        lane.vl ? fmt::format("VL {}, {:.1f} %, {:.0f} of {} Gb/s{}", lane.vl->value(), 100 * lane.share,
                              kRate * lane.share, kRate, lane.high != 0 ? ", high priority" : "")
                : std::string("dropped");
    write_text(out, kLeft + 20, y,
               fmt::format("SL {}: {} - {}", lane.sl.value(), name_of(explanation, lane.sl), where));
    y += kRow;
  }
}

}  // namespace

void write_qos_svg(std::ostream& out, const QosExplanation& explanation, std::string_view subnet) {
  const auto title = subnet.empty()
                         ? std::string("Shares of a link while all classes send")
                         : fmt::format("Subnet {}: shares of a link while all classes send", subnet);
  int height = kGap;
  for (const auto& kind : explanation.kinds)
    height += kHead + kBarHeight + static_cast<int>(kind.lanes.size()) * kRow;
  out << fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n",
      kSvgWidth, height);
  int y = kGap;
  for (const auto& kind : explanation.kinds) {
    write_text(out, kLeft, y, fmt::format("{}: {}", title, kind.names), " font-weight=\"bold\"");
    write_bar(out, kind, y + 10);
    write_rows(out, explanation, kind, y + kBarHeight + 32);
    y += kHead + kBarHeight + static_cast<int>(kind.lanes.size()) * kRow;
  }
  out << "</svg>\n";
}

}  // namespace smd::sm::inline reports
