// SPDX-License-Identifier: Apache-2.0
#include "mad/base/fabric_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>
#include <vector>

#include "mad/base/fabric_file.h"
#include "mad/base/spec/generators.h"
#include "mad/base/spec/suffixes.h"

namespace smd::base {
namespace {

struct Spec {
  std::string_view name, arguments;
  std::size_t fewest, most;
  spec::Result (*make)(spec::Args);
};
constexpr std::array kSpecs{
    Spec{"ft2", "K", 1, 1, spec::ft2},
    Spec{"ft3", "K[:PODS]", 1, 2, spec::ft3},
    Spec{"torus", "XxYx…[:HOSTS]", 1, 2, spec::torus},
    Spec{"mesh", "XxYx…[:HOSTS]", 1, 2, spec::mesh},
    Spec{"dragonfly", "A:H[:P]", 2, 3, spec::dragonfly},
    Spec{"dragonflyplus", "GROUPS:LEAVES:SPINES:HOSTS", 4, 4, spec::dragonflyplus},
    Spec{"hyperx", "XxYx…[:HOSTS]", 1, 2, spec::hyperx},
    Spec{"random", "SWITCHES:DEGREE:HOSTS:SEED", 4, 4, spec::random},
    Spec{"xgft", "h;m1,…;w1,…;p1,…", 1, 1, spec::xgft},
    Spec{"rails", "LEAVES:SPINES:HOSTS:RAILS", 4, 4, spec::rails},
    Spec{"chassis", "EDGES:HOSTS:LINES:SPINES[:CABLES[:CHASSIS]]", 4, 6, spec::chassis},
    Spec{"fullcore", "PODS:LEAVES:HOSTS:AGGS:CORES", 5, 5, spec::fullcore},
};

const Spec* find_spec(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return nullptr;
  const auto found = std::ranges::find(kSpecs, text.substr(0, colon), &Spec::name);
  return found == kSpecs.end() ? nullptr : &*found;
}

std::string spec_names() {
  std::string names;
  for (const auto& spec : kSpecs) names += fmt::format("{}{}", names.empty() ? "" : ", ", spec.name);
  return names;
}

}  // namespace

std::string all_specs() {
  std::string text = "specs:";
  for (const auto& spec : kSpecs) text += fmt::format("\n  {}:{}", spec.name, spec.arguments);
  return text +
         fmt::format("\nbehind any spec, each at most once:\n  {}", fmt::join(spec::kSuffixes, "\n  "));
}

bool is_spec(std::string_view text) { return find_spec(text) != nullptr; }

std::expected<Fabric, std::string> make_fabric(std::string_view text) {
  const auto* const spec = find_spec(text);
  if (spec == nullptr) {
    return std::unexpected(
        fmt::format("{}: not a spec: NAME:… with one of the names {} is needed", text, spec_names()));
  }
  const auto plain = text.substr(0, text.find('+'));
  const auto suffixes = spec::parse_suffixes(text.substr(plain.size()));
  if (!suffixes) return std::unexpected(fmt::format("{}: {}", text, suffixes.error()));
  std::vector<std::string_view> args;
  for (auto rest = plain;;) {
    const auto colon = rest.find(':');
    args.push_back(rest.substr(0, colon));
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
  const auto given = spec::Args(args).subspan(1);
  if (given.size() < spec->fewest || given.size() > spec->most) {
    return std::unexpected(
        fmt::format("{}: {} arguments: {}:{} is needed", text, given.size(), spec->name, spec->arguments));
  }
  auto fabric = spec->make(given);
  if (fabric) fabric = spec::with_suffixes(std::move(*fabric), *suffixes);
  if (!fabric) return std::unexpected(fmt::format("{}: {}", text, fabric.error()));
  return fabric;
}

std::expected<Fabric, FileErrors> load_fabric(std::string_view argument) {
  if (is_spec(argument)) {
    auto fabric = make_fabric(argument);
    if (!fabric) return std::unexpected(FileErrors{FileError{"", 0, std::move(fabric.error())}});
    return *std::move(fabric);
  }
  const std::string path(argument);
  std::error_code ignored;
  if (path != "-" && argument.find(':') != std::string_view::npos &&
      !std::filesystem::exists(path, ignored)) {
    return std::unexpected(
        FileErrors{FileError{path, 0, fmt::format("neither a file nor a spec ({})", spec_names())}});
  }
  return read_fabric_file(path);
}

}  // namespace smd::base
