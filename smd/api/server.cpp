// SPDX-License-Identifier: Apache-2.0
#include "smd/api/server.h"

#include <algorithm>
#include <array>
#include <boost/beast/http.hpp>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "mad/deadline.h"
#include "smd/api/caller.h"
#include "smd/api/local_listener.h"
#include "smd/api/router.h"
#include "smd/api/tar.h"
#include "smd/api/ufm_session.h"
#include "smd/base/unix_time.h"

namespace smd::api {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

/// Bytes that are read, and written, at a time.
constexpr std::size_t kRead = std::size_t{16} * 1024;
constexpr std::size_t kPiece = std::size_t{256} * 1024;
/// To say goodbye.
constexpr mad::Duration kFarewell = std::chrono::seconds(1);

/// What a Deadline does to a channel.
auto closing(Channel& channel) {
  return [&channel] { channel.close(); };
}

/// While a piece is being sent: since when.
class Sending {
 public:
  Sending(std::optional<mad::TimePoint>& since, mad::TimePoint now) : since_(since) { since_ = now; }
  Sending(const Sending&) = delete;
  Sending& operator=(const Sending&) = delete;
  ~Sending() { since_.reset(); }

 private:
  std::optional<mad::TimePoint>& since_;
};

bool is_http_error(const error_code& error) {
  return error.category() == http::make_error_code(http::error::bad_version).category() &&
         error != http::error::end_of_stream && error != http::error::partial_message;
}

Answer body_too_large() { return error_of(413, "too_large", "the body is too large"); }

Answer refusal_of(const error_code& error) {
  if (error == http::error::body_limit) return body_too_large();
  if (error == http::error::header_limit) return error_of(431, "too_large", "the header is too large");
  return error_of(400, "not_http", error.message());
}

std::uint64_t length_of(const Answer& answer) {
  if (!answer.bundle) return answer.body.size();
  std::uint64_t length = kTarEnd;
  for (const auto& file : answer.bundle->files()) length += kTarBlock + file.size + tar_padding(file.size);
  return length;
}

std::string header_of(const Answer& answer, unsigned version, bool keep) {
  http::response<http::empty_body> header;
  header.version(version);
  header.result(answer.status);
  header.set(http::field::server, "smd");
  const std::string_view type =
      answer.type.empty() ? std::string_view("application/json") : std::string_view(answer.type);
  header.set(http::field::content_type, answer.bundle ? "application/x-tar" : type);
  header.set(http::field::cache_control, "no-store");
  if (!answer.allow.empty()) header.set(http::field::allow, answer.allow);
  for (const auto& [name, value] : answer.headers) header.set(name, value);
  if (answer.rest && version >= 11) header.chunked(true);
  if (!answer.stream && !answer.rest && answer.status != 304) header.content_length(length_of(answer));
  header.keep_alive(keep);
  std::ostringstream text;
  text << header.base();
  return text.str();
}

}  // namespace

Server::Server(asio::io_context& io, mad::Clock& clock, sm::Compute& compute, Backend& backend,
               ServerLimits limits)
    : executor_(io.get_executor()),
      clock_(clock),
      compute_(compute),
      backend_(backend),
      limits_(limits),
      large_bodies_(io.get_executor(), clock, compute),
      tasks_(io.get_executor()) {}

void Server::start(std::unique_ptr<Listener> listener) {
  listener_ = std::move(listener);
  listen_to_events();
  tasks_.spawn(accept());
}

void Server::start(Protocol::acceptor acceptor, std::filesystem::path path) {
  start(std::make_unique<LocalListener>(std::move(acceptor), std::move(path), clock_));
}

void Server::close() {
  if (listener_) listener_->close();
}

asio::awaitable<void> Server::stop() {
  close();
  co_await tasks_.stop();
  co_await large_bodies_.stop();
  heard_by_.reset();
}

asio::awaitable<void> Server::accept() {
  for (;;) {
    auto channel = co_await listener_->next();
    if (!channel) co_return;
    while (connections_.size() >= limits_.connections) {
      const auto next = make_room();
      mad::Clock::TimerId timer = 0;
      if (next) timer = clock_.call_at(*next, [this] { room_.wake_one(); });
      const bool woken = co_await room_.wait();
      if (next) clock_.cancel(timer);
      if (!woken) co_return;
    }
    const auto place = connections_.emplace(connections_.end(), std::move(channel),
                                            std::size_t{limits_.header} + limits_.body);
    tasks_.spawn(serve(place));
  }
}

/// Closes one connection for a new one. Where none may be closed yet: when to try again.
std::optional<mad::TimePoint> Server::make_room() {
  if (gives_way_) return std::nullopt;
  // Idle connections stand in the order in which they became idle.
  if (const auto idle = std::ranges::find(connections_, true, &Connection::idle);
      idle != connections_.end()) {
    give_way(*idle);
    return std::nullopt;
  }
  Connection* oldest = nullptr;
  for (auto& one : connections_) {
    if (one.sends_since && (oldest == nullptr || *one.sends_since < *oldest->sends_since)) oldest = &one;
  }
  const auto stuck = (oldest != nullptr ? *oldest->sends_since : clock_.now()) + limits_.stuck;
  if (clock_.now() < stuck) return stuck;
  give_way(*oldest);
  return std::nullopt;
}

namespace {

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

using Header = http::request_header<>;

/// The parser knows one transfer coding, and takes the body in another one for none.
bool is_encoded_otherwise(const Header& header) {
  const auto coding = header.find(http::field::transfer_encoding);
  return coding != header.end() && !boost::beast::iequals(coding->value(), "chunked");
}

/// RFC 9112, 3.2.
bool has_host(const Header& header) {
  const auto hosts = header.count(http::field::host);
  return hosts == 1 || (hosts == 0 && header.version() < 11);
}

/// Why a request is not answered, of local users too.
std::optional<Answer> wrong_header(const Header& header) {
  if (is_encoded_otherwise(header))
    return error_of(501, "transfer_encoding", "Transfer-Encoding: allowed is chunked");
  if (!has_host(header)) return error_of(400, "bad_host", "Host: a request of HTTP/1.1 has one");
  return std::nullopt;
}

/// The client sends the body when it has been told to.
bool waits_for_continue(const http::request_parser<http::string_body>& parser) {
  return parser.is_header_done() && !parser.is_done() && parser.get().version() >= 11 &&
         boost::beast::iequals(parser.get()[http::field::expect], "100-continue");
}

}  // namespace

void Server::give_way(Connection& connection) {
  gives_way_ = true;
  connection.channel->close();
}

asio::awaitable<void> Server::serve(Place place) {
  bool more = false;
  {
    const mad::Deadline deadline(clock_, limits_.handshake, closing(*place->channel));
    more = co_await place->channel->open();
  }
  const bool opened = more;
  while (more) {
    place->idle = true;
    connections_.splice(connections_.end(), connections_, place);
    more = co_await one(place);
    more = more && room_.empty();  // a new client waits for a place
  }
  if (opened) {
    const mad::Deadline deadline(clock_, kFarewell, closing(*place->channel));
    co_await place->channel->finish();
  }
  connections_.erase(place);
  gives_way_ = false;
  room_.wake_one();
}

/// One request and its answer. False: no more after it.
asio::awaitable<bool> Server::one(Place place) {
  Reading reading;
  auto& parser = reading.parser;
  parser.header_limit(limits_.header);
  parser.body_limit(boost::none);  // refused_unread() sets it
  const auto failed = co_await read_request(place, &reading);
  place->idle = false;
  if (failed && is_http_error(failed)) reading.refused = refusal_of(failed);
  if (reading.refused) {  // what follows is not the next request
    const auto refused = std::make_shared<const Answer>(*std::move(reading.refused));
    co_await reply(place, refused, header_of(*refused, 11, false), false);
    co_return false;
  }
  if (failed) co_return false;
  const auto version = parser.get().version();
  const bool keep = parser.get().keep_alive();
  auto request = without_body(parser, *place);
  request.body = std::move(parser.get().body());
  const bool bare = request.method == "HEAD";
  auto answered = std::make_shared<Answer>();
  const auto make = [&] { *answered = answer(request, backend_); };
  co_await (reading.large ? large_bodies_.execute(make) : compute_.execute(make));
  request.body = {};  // a client may take long for its answer
  reading.large.reset();
  if (request.method != "GET" && request.method != "HEAD") large_bodies_.give_back_soon();
  if (answered->later) *answered = co_await later(answered->later);
  if (answered->stream && !has_room_for_stream())
    *answered = error_of(503, "too_many_streams", "as many clients follow events as the API has places for");
  // To a client of HTTP/1.0 the end of a long body is the end of the connection.
  const bool stays = keep && !answered->stream && (!answered->rest || version >= 11);
  auto header = header_of(*answered, version, stays);
  if (bare)
    answered->body.clear(), answered->bundle.reset(), answered->stream.reset(), answered->rest.reset();
  const bool more = co_await reply(place, answered, std::move(header), stays);
  if (answered->stream && place->channel) co_await send_stream(place, answered->stream);
  co_return more;
}

/// No thread waits for another SM.
asio::awaitable<Answer> Server::later(std::shared_ptr<const Later> begin) {
  struct Made {
    std::optional<Answer> answer;
    mad::WaitList come;
  };
  const auto made = std::make_shared<Made>();
  (*begin)([made, executor = executor_](Answer answer) {
    asio::post(executor, [made, answered = std::move(answer)]() mutable {
      made->answer = std::move(answered);
      made->come.wake_all();
    });
  });
  while (!made->answer) {
    const bool woken = co_await made->come.wait();
    if (!woken) co_return error_of(503, "ending", "smd ends");
  }
  co_return *std::move(made->answer);
}

namespace {

/// A blank where the header is there and empty: that is no key, and to be refused as one.
template <class Message>
std::string key_of(const Message& message) {
  const auto header = message.find("Idempotency-Key");
  if (header == message.end()) return {};
  return header->value().empty() ? " " : std::string(header->value());
}

/// Path and query of "http://HOST/PATH", which every server has to take (RFC 9112, 3.2.2).
std::string_view origin_form(std::string_view target) {
  const auto host = target.starts_with("http://") ? 7U : target.starts_with("https://") ? 8U : 0U;
  if (host == 0) return target;
  const auto path = target.find('/', host);
  return path == std::string_view::npos ? "/" : target.substr(path);
}

}  // namespace

Request Server::without_body(const Parser& parser, const Connection& connection) const {
  const auto& message = parser.get();
  const auto target = origin_form(message.target());
  return {.method = std::string(message.method_string()),
          .target = std::string(target),
          .body = {},
          .authorization = ufm_authorization(target, std::string(message[http::field::authorization]),
                                             std::string_view(message[http::field::cookie])),
          .peer = connection.channel->peer(),
          .time = sm::unix_now(),
          .accept = std::string(message[http::field::accept]),
          .last_event_id = std::string(message["Last-Event-ID"]),
          .if_match = std::string(message[http::field::if_match]),
          .if_none_match = std::string(message[http::field::if_none_match]),
          .idempotency_key = key_of(message),
          .accept_encoding = std::string(message[http::field::accept_encoding])};
}

/// By the header, before the body is read. Strangers cannot fill the memory: a body that is long, or whose
/// length the header does not say, is read of known clients alone.
std::optional<Answer> Server::refused_unread(Parser& parser, const Connection& connection) {
  if (auto wrong = wrong_header(parser.get())) return wrong;
  const auto length = parser.content_length();
  const bool is_short = parser.is_done() || (length && *length <= limits_.body_of_stranger);
  auto most = limits_.body;
  if (!connection.channel->peer().local && !is_short) {
    const auto request = without_body(parser, connection);
    if (is_for_all(request)) {
      most = limits_.body_of_stranger;
    } else if (auto refused = refused_caller(request, backend_)) {
      return refused;
    }
  }
  parser.body_limit(most);
  if (length && *length > most) return body_too_large();
  return std::nullopt;
}

asio::awaitable<error_code> Server::read_request(Place place, Reading* reading) {
  auto& buffer = place->buffer;
  auto& parser = reading->parser;
  if (buffer.size() == 0) {
    const mad::Deadline deadline(clock_, limits_.idle, closing(*place->channel));
    const auto failed = co_await read_more(place);
    if (failed) co_return failed;
  }
  std::optional<mad::Deadline> deadline;
  deadline.emplace(clock_, limits_.request, closing(*place->channel));
  bool asked_on = false;
  std::size_t header = 0;  // bytes: the parser's own limit is one for what it sees at a time
  for (;;) {
    error_code error;
    const bool in_header = !parser.is_header_done();
    const auto taken = parser.put(buffer.data(), error);
    buffer.consume(taken);
    if (error == http::error::need_more) error = {};
    if (in_header) header += taken;
    if (!error && header > limits_.header) error = http::error::header_limit;
    if (in_header && parser.is_header_done()) {
      parser.eager(true);  // until then the body is not read
      if (!error) reading->refused = refused_unread(parser, *place);
    }
    if (error || reading->refused || parser.is_done()) {
      if (buffer.size() == 0) buffer.shrink_to_fit();
      co_return error;
    }
    if (in_header && parser.is_header_done() && buffer.size() != 0) continue;
    if (waits_for_continue(parser) && !std::exchange(asked_on, true)) {
      const bool sent = co_await write(place, asio::buffer(kContinue));
      if (!sent) co_return http::error::end_of_stream;
    }
    if (!reading->large && parser.get().body().size() > LargeBodies::kLarge) {
      deadline.reset();  // it is not the client that is slow
      reading->large = co_await large_bodies_.place();
      if (!reading->large) co_return http::error::end_of_stream;
      deadline.emplace(clock_, limits_.request, closing(*place->channel));
    }
    const auto failed = co_await read_more(place);
    if (failed) co_return failed;
  }
}

asio::awaitable<error_code> Server::read_more(Place place) {
  auto& buffer = place->buffer;
  const auto room = std::min(kRead, buffer.max_size() - buffer.size());
  if (room == 0) co_return http::error::header_limit;
  const auto [error, bytes] = co_await place->channel->read(buffer.prepare(room));
  buffer.commit(bytes);
  co_return error;
}

asio::awaitable<bool> Server::reply(Place place, std::shared_ptr<const Answer> answer, std::string header,
                                    bool keep) {
  if (answer->rest) co_return co_await send_rest(place, answer, std::move(header), keep);
  const auto with_header = answer->bundle ? 0 : std::min(kPiece, answer->body.size());
  header.append(answer->body, 0, with_header);
  const bool begun = co_await write(place, asio::buffer(header));
  if (!begun) co_return false;
  if (answer->bundle) {
    const bool sent = co_await send_bundle(place, answer);
    co_return sent&& keep;
  }
  for (std::size_t at = with_header; at < answer->body.size(); at += kPiece) {
    const auto size = std::min(kPiece, answer->body.size() - at);
    const bool sent = co_await write(place, asio::buffer(answer->body.data() + at, size));
    if (!sent) co_return false;
  }
  co_return keep;
}

asio::awaitable<bool> Server::send_bundle(Place place, std::shared_ptr<const Answer> answer) {
  std::vector<char> piece(kPiece);
  for (const auto& file : answer->bundle->files()) {
    const auto header = tar_header(file.name, file.size);
    const bool begun = co_await write(place, asio::buffer(header));
    if (!begun) co_return false;
    std::ifstream in(file.path, std::ios::binary);
    auto left = file.size;
    while (left != 0) {
      const auto size = std::min<std::uint64_t>(left, piece.size());
      if (!in.read(piece.data(), static_cast<std::streamsize>(size))) co_return false;
      const bool sent = co_await write(place, asio::buffer(piece.data(), size));
      if (!sent) co_return false;
      left -= size;
    }
    const std::array<char, kTarBlock> zeros{};
    const bool padded = co_await write(place, asio::buffer(zeros.data(), tar_padding(file.size)));
    if (!padded) co_return false;
  }
  const std::array<char, kTarEnd> end{};
  co_return co_await write(place, asio::buffer(end));
}

asio::awaitable<bool> Server::write(Place place, asio::const_buffer bytes) {
  const mad::Deadline deadline(clock_, limits_.piece, closing(*place->channel));
  const Sending sending(place->sends_since, clock_.now());
  const auto error = co_await place->channel->write(bytes);
  co_return !error;
}

}  // namespace smd::api
