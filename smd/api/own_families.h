// SPDX-License-Identifier: Apache-2.0
#pragma once
// Families of a scrape that are small: prometheus-cpp holds and writes them. Those with a sample for each
// port of a fabric are written straight from the snapshot (exposition.h).

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>
#include <prometheus/metric_type.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "smd/api/exposition.h"

namespace smd::api {

class OwnFamilies {
 public:
  using Label = Exposition::Label;
  using Histogram = prometheus::ClientMetric::Histogram;

  /// `scrape` says which families are wanted, and outlives this.
  explicit OwnFamilies(const Exposition& scrape) : scrape_(scrape) {}

  /// The samples that follow are of this one; once for each name. False: it was not asked for.
  bool family(std::string_view name, prometheus::MetricType type, std::string_view help);
  /// Of the last family, a gauge or a counter. Labels with an empty name are left out.
  void sample(std::initializer_list<Label> labels, double value);
  /// The same of a histogram.
  void sample(std::initializer_list<Label> labels, Histogram value);
  /// All of them in Prometheus' text format.
  std::string text() const;

 private:
  prometheus::ClientMetric& add(std::initializer_list<Label> labels);

  const Exposition& scrape_;
  std::vector<prometheus::MetricFamily> families_{};
};

}  // namespace smd::api
