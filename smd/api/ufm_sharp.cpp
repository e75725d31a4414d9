// SPDX-License-Identifier: Apache-2.0
// Reservations of SHARP, which the plugin for Slurm makes at UFM: smd has no SHARP.
#include <fmt/format.h>

#include "smd/api/ufm.h"

namespace smd::api {
namespace {

Answer no_sharp(std::string_view what) {
  return error_of(404, "no_sharp", fmt::format("{}: smd does not support SHARP", what));
}

}  // namespace

Answer ufm_sharp(const Question&, Backend&) { return answer_of(sm::Json(sm::JsonArray{})); }

Answer ufm_no_sharp(const Question& question, Backend&) {
  const auto resource = question.part("resource");
  return no_sharp(resource.empty() ? "resources" : resource);
}

}  // namespace smd::api
