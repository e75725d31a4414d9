// SPDX-License-Identifier: Apache-2.0
// torus, mesh, hyperx: switches at the points of a lattice.
#include <fmt/format.h>

#include "mad/base/spec/builder.h"
#include "mad/base/spec/generators.h"

namespace smd::base::spec {
namespace {

/// All points of a box, the last coordinate fastest.
class Points {
 public:
  explicit Points(Numbers sizes) : sizes_(std::move(sizes)) {}
  std::size_t dimensions() const { return sizes_.size(); }
  unsigned size(std::size_t dimension) const { return sizes_[dimension]; }
  unsigned count() const { return static_cast<unsigned>(product(sizes_)); }
  unsigned coordinate(unsigned point, std::size_t dimension) const {
    return point / stride(dimension) % sizes_[dimension];
  }
  /// The point whose coordinate in one dimension is another one.
  unsigned moved(unsigned point, std::size_t dimension, unsigned to) const {
    return point + (to - coordinate(point, dimension)) * stride(dimension);  // wraps around on purpose
  }
  std::string name(unsigned point) const {
    std::string text;
    for (std::size_t d = 0; d < dimensions(); ++d) {
      text += fmt::format("{}{:02}", d == 0 ? "" : "-", coordinate(point, d));
    }
    return text;
  }

 private:
  unsigned stride(std::size_t dimension) const {
    return static_cast<unsigned>(product(std::span(sizes_).subspan(dimension + 1)));
  }
  Numbers sizes_;
};

struct Lattice {
  Points points;
  unsigned hosts;
};

std::expected<Lattice, std::string> parse(Args args) {
  auto sizes = list(args[0], 'x', {"dimension ", 1, kMostLids});
  if (!sizes) return std::unexpected(sizes.error());
  const auto hosts = args.size() > 1 ? number(args[1], {"HOSTS", 0, kMostPorts}) : 1;
  if (!hosts) return std::unexpected(hosts.error());
  if (product(*sizes) > kMostLids) {  // before the points are counted
    return std::unexpected(too_large(product(*sizes), times(product(*sizes), *hosts), 0));
  }
  return Lattice{Points(*std::move(sizes)), static_cast<unsigned>(*hosts)};
}

std::string too_large(const Lattice& lattice, unsigned ports) {
  const std::uint64_t switches = lattice.points.count();
  return spec::too_large(switches, times(switches, lattice.hosts), ports);
}

void add_switches(FabricBuilder& fabric, const Lattice& lattice, std::string_view letter, unsigned ports) {
  for (unsigned point = 0; point < lattice.points.count(); ++point) {
    fabric.add_switch(fmt::format("{}{}", letter, lattice.points.name(point)), ports);
  }
}

void add_hosts(FabricBuilder& fabric, const Lattice& lattice, std::string_view letter, unsigned point,
               unsigned first_port) {
  for (unsigned host = 0; host < lattice.hosts; ++host) {
    const auto name = fmt::format("h{}{}-{:02}", letter, lattice.points.name(point), host);
    fabric.link(fabric.add_host(name), 1, point, first_port + host);
  }
}

/// A switch's index in the fabric is its point's number. Port 2d+1 goes up in dimension d, 2d+2 down.
Result grid(Args args, std::string_view letter, bool around) {
  const auto lattice = parse(args);
  if (!lattice) return std::unexpected(lattice.error());
  const auto& points = lattice->points;
  const auto links = static_cast<unsigned>(2 * points.dimensions());
  if (auto why = too_large(*lattice, links + lattice->hosts); !why.empty())
    return std::unexpected(std::move(why));

  FabricBuilder fabric;
  add_switches(fabric, *lattice, letter, links + lattice->hosts);
  for (unsigned point = 0; point < points.count(); ++point) {
    for (std::size_t d = 0; d < points.dimensions(); ++d) {
      const unsigned size = points.size(d), here = points.coordinate(point, d);
      const bool last = here + 1 == size;
      // The ring of two has one link, not two.
      if (size < 2 || (last && (!around || size == 2))) continue;
      const auto port = static_cast<unsigned>(2 * d + 1);
      fabric.link(point, port, points.moved(point, d, last ? 0 : here + 1), port + 1);
    }
    add_hosts(fabric, *lattice, letter, point, links + 1);
  }
  return fabric.take();
}

}  // namespace

Result torus(Args args) { return grid(args, "t", true); }
Result mesh(Args args) { return grid(args, "m", false); }

Result hyperx(Args args) {
  const auto lattice = parse(args);
  if (!lattice) return std::unexpected(lattice.error());
  const auto& points = lattice->points;
  unsigned links = 0;
  for (std::size_t d = 0; d < points.dimensions(); ++d) links += points.size(d) - 1;
  if (auto why = too_large(*lattice, links + lattice->hosts); !why.empty())
    return std::unexpected(std::move(why));

  FabricBuilder fabric;
  add_switches(fabric, *lattice, "x", links + lattice->hosts);
  for (unsigned point = 0; point < points.count(); ++point) {
    unsigned first_port = 1;  // of this dimension; the others in order of their coordinate, without ourselves
    for (std::size_t d = 0; d < points.dimensions(); ++d) {
      const unsigned here = points.coordinate(point, d);
      for (unsigned there = here + 1; there < points.size(d); ++there) {
        fabric.link(point, first_port + there - 1, points.moved(point, d, there), first_port + here);
      }
      first_port += points.size(d) - 1;
    }
    add_hosts(fabric, *lattice, "x", point, links + 1);
  }
  return fabric.take();
}

}  // namespace smd::base::spec
