// SPDX-License-Identifier: Apache-2.0
#include "smd/api/own_families.h"

#include <prometheus/text_serializer.h>

#include <utility>

namespace smd::api {

bool OwnFamilies::family(std::string_view name, prometheus::MetricType type, std::string_view help) {
  if (!scrape_.wants(name)) return false;
  families_.push_back({.name = std::string(name), .help = std::string(help), .type = type, .metric = {}});
  return true;
}

prometheus::ClientMetric& OwnFamilies::add(std::initializer_list<Label> labels) {
  auto& metric = families_.back().metric.emplace_back();
  for (const auto& [name, value] : labels) {
    if (!name.empty()) metric.label.push_back({.name = std::string(name), .value = std::string(value)});
  }
  return metric;
}

void OwnFamilies::sample(std::initializer_list<Label> labels, double value) {
  auto& metric = add(labels);
  metric.gauge.value = metric.counter.value = value;
}

void OwnFamilies::sample(std::initializer_list<Label> labels, Histogram value) {
  add(labels).histogram = std::move(value);
}

std::string OwnFamilies::text() const { return prometheus::TextSerializer().Serialize(families_); }

}  // namespace smd::api
