// SPDX-License-Identifier: Apache-2.0
#include "smd/api/audit.h"

#include <memory>
#include <utility>

namespace smd::api {

void audit(Answer& answered, Audit call, Backend& backend) {
  if (!answered.later) {
    call.status = answered.status;
    return backend.audit(call);
  }
  answered.later = std::make_shared<const Later>([inner = answered.later, call, &backend](AnswerDone done) {
    (*inner)([call, &backend, answer = std::move(done)](Answer made) mutable {
      call.status = made.status;
      backend.audit(call);
      answer(std::move(made));
    });
  });
}

}  // namespace smd::api
