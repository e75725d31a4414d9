// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/paint.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>

namespace smd::cli {
namespace {

/// The place of a stream's own flag.
int flag_of_colours() {
  static const int kIndex = std::ios_base::xalloc();
  return kIndex;
}

bool is_set(const char* variable) {
  const auto* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

/// no-color.org; terminals without escape sequences call themselves dumb.
bool wants_colours() {
  const auto* const terminal = std::getenv("TERM");
  return !is_set("NO_COLOR") && terminal != nullptr && std::string_view(terminal) != "dumb";
}

struct ToneOfState {
  std::string_view state;
  Tone tone;
};
constexpr std::array kTones{ToneOfState{"up", Tone::good},         ToneOfState{"standby", Tone::good},
                            ToneOfState{"Active", Tone::good},     ToneOfState{"reduced", Tone::notice},
                            ToneOfState{"degraded", Tone::bad},    ToneOfState{"failed", Tone::bad},
                            ToneOfState{"starting", Tone::notice}, ToneOfState{"waiting", Tone::bad},
                            ToneOfState{"Init", Tone::notice},     ToneOfState{"Armed", Tone::notice},
                            ToneOfState{"Down", Tone::bad},        ToneOfState{"warn", Tone::notice},
                            ToneOfState{"error", Tone::bad}};

}  // namespace

void choose_colours(const std::string& when, std::ostream& out, std::ostream& err) {
  const auto choose = [&](std::ostream& stream, const std::ostream& own, int descriptor) {
    const bool terminal = when.empty() || when == "auto"
                              ? &stream == &own && ::isatty(descriptor) == 1 && wants_colours()
                              : when == "always";
    stream.iword(flag_of_colours()) = terminal ? 1 : 0;
  };
  choose(out, std::cout, STDOUT_FILENO);
  choose(err, std::cerr, STDERR_FILENO);
}

std::string painted(std::ostream& out, Tone tone, std::string_view text) {
  if (tone == Tone::plain || text.empty() || out.iword(flag_of_colours()) == 0) return std::string(text);
  constexpr int kGreen = 32, kYellow = 33, kRed = 31;
  const int colour = tone == Tone::good ? kGreen : tone == Tone::notice ? kYellow : kRed;
  return fmt::format("\x1b[{}m{}\x1b[0m", colour, text);
}

Tone tone_of(std::string_view state) {
  const auto* const found = std::ranges::find(kTones, state, &ToneOfState::state);
  return found != kTones.end() ? found->tone : Tone::plain;
}

}  // namespace smd::cli
