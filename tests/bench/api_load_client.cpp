// SPDX-License-Identifier: Apache-2.0
// api_load_client get PLACE TARGET CONNECTIONS RATE SECONDS, or: api_load_client events PLACE TARGET READERS
// SECONDS PLACE: the path of a Unix socket, or HOST:PORT of TLS (which is not verified) with the token in
// SMD_TOKEN. get: RATE requests a second over keep-alive connections, each at its time whether or not the one
// before was answered in time; prints requests, errors and waits from that time to the end of the answer:
// median, 99 and 99.9 of 100, longest. events: waits from the `time` of an event, which has microseconds of
// the same clock, to each reader.
#include <algorithm>
#include <array>
#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using Clock = std::chrono::steady_clock;
using Local = asio::local::stream_protocol;
using asio::ip::tcp;

struct Results {
  std::vector<double> waits;  ///< ms
  unsigned errors = 0;
};

/// Bytes over either kind of connection.
class Stream {
 public:
  Stream(asio::io_context& io, ssl::context& tls, const std::string& place, std::size_t number)
      : local_(io), tls_(io, tls) {
    is_local_ = place.starts_with('/');
    if (is_local_) {
      local_.connect(Local::endpoint(place));
      return;
    }
    // An address may have 64 connections: on loopback there are many.
    const auto from =
        asio::ip::address_v4(asio::ip::address_v4::loopback().to_uint() + static_cast<unsigned>(number / 50));
    tls_.lowest_layer().open(tcp::v4());
    if (place.starts_with("127.")) tls_.lowest_layer().bind(tcp::endpoint(from, 0));
    const auto colon = place.rfind(':');
    tls_.lowest_layer().connect(
        tcp::endpoint(asio::ip::make_address(place.substr(0, colon)),
                      static_cast<unsigned short>(std::stoul(place.substr(colon + 1)))));
    tls_.lowest_layer().set_option(tcp::no_delay(true));
    tls_.handshake(ssl::stream_base::client);
  }
  asio::awaitable<void> write(const std::string& text) {
    if (is_local_) {
      co_await asio::async_write(local_, asio::buffer(text), asio::use_awaitable);
    } else {
      co_await asio::async_write(tls_, asio::buffer(text), asio::use_awaitable);
    }
  }
  asio::awaitable<std::size_t> read(asio::mutable_buffer into) {
    if (is_local_) {
      const auto bytes = co_await local_.async_read_some(into, asio::use_awaitable);
      co_return bytes;
    }
    const auto bytes = co_await tls_.async_read_some(into, asio::use_awaitable);
    co_return bytes;
  }

 private:
  bool is_local_ = false;
  Local::socket local_;
  ssl::stream<tcp::socket> tls_;
};

std::string request_of(const std::string& target, std::string_view accept) {
  const char* token = std::getenv("SMD_TOKEN");
  std::string text = "GET " + target + " HTTP/1.1\r\nHost: smd\r\nAccept: " + std::string(accept) + "\r\n";
  if (token != nullptr) text += "Authorization: Bearer " + std::string(token) + "\r\n";
  return text + "\r\n";
}

/// Until the body of an answer with Content-Length has come; whether it was 200.
asio::awaitable<bool> answer(Stream* stream, std::string* buffer) {
  std::array<char, 65'536> piece{};
  for (;;) {
    const auto end = buffer->find("\r\n\r\n");
    const auto length = end != std::string::npos ? buffer->find("Content-Length: ") : std::string::npos;
    if (length != std::string::npos && length < end) {
      const auto whole = end + 4 + std::strtoull(buffer->c_str() + length + 16, nullptr, 10);
      if (buffer->size() >= whole) {
        const bool good = buffer->starts_with("HTTP/1.1 200");
        buffer->erase(0, whole);
        co_return good;
      }
    }
    const auto bytes = co_await stream->read(asio::buffer(piece));
    buffer->append(piece.data(), bytes);
  }
}

asio::awaitable<void> load(Stream* stream, std::string request, Clock::time_point first, Clock::duration pace,
                           Clock::time_point end, Results* results) {
  asio::steady_timer timer(co_await asio::this_coro::executor);
  std::string buffer;
  for (auto due = first; due < end; due += pace) {
    if (due > Clock::now()) {
      timer.expires_at(due);
      co_await timer.async_wait(asio::use_awaitable);
    }
    co_await stream->write(request);
    const bool good = co_await answer(stream, &buffer);
    if (!good) ++results->errors;
    results->waits.push_back(std::chrono::duration<double, std::milli>(Clock::now() - due).count());
  }
}

/// Milliseconds since 1970 of "time":"2026-11-26T16:00:00.123456Z"; 0: none.
double time_in(std::string_view line) {
  constexpr std::string_view kKey = "\"time\":\"";
  const auto at = line.find(kKey);
  if (at == std::string_view::npos) return 0;
  const std::string text(line.substr(at + kKey.size(), 27));
  std::tm parts{};
  double seconds = 0;
  if (std::sscanf(text.c_str(), "%d-%d-%dT%d:%d:%lf", &parts.tm_year, &parts.tm_mon, &parts.tm_mday,
                  &parts.tm_hour, &parts.tm_min, &seconds) != 6)
    return 0;
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  return (static_cast<double>(timegm(&parts)) + seconds) * 1e3;
}

asio::awaitable<void> follow(Stream* stream, std::string request, Results* results) {
  co_await stream->write(request);
  std::string buffer;
  std::array<char, 65'536> piece{};
  for (;;) {
    const auto bytes = co_await stream->read(asio::buffer(piece));
    const auto now =
        std::chrono::duration<double, std::milli>(std::chrono::system_clock::now().time_since_epoch());
    buffer.append(piece.data(), bytes);
    for (auto end = buffer.find('\n'); end != std::string::npos; end = buffer.find('\n')) {
      const auto sent = time_in(std::string_view(buffer).substr(0, end));
      if (sent > 0) results->waits.push_back(now.count() - sent);
      buffer.erase(0, end + 1);
    }
  }
}

void print(Results& results, std::size_t of) {
  auto& waits = results.waits;
  std::ranges::sort(waits);
  const auto part = [&](std::size_t thousandths) {
    return waits.empty() ? 0 : waits[std::min(waits.size() - 1, waits.size() * thousandths / 1000)];
  };
  std::printf(
      "connections=%zu answered=%zu errors=%u median_ms=%.3f p99_ms=%.3f p999_ms=%.3f longest_ms=%.3f\n", of,
      waits.size(), results.errors, part(500), part(990), part(999), part(1000));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const bool gets = what == "get" && argc == 7;
  if (!gets && !(what == "events" && argc == 6))
    return std::fprintf(stderr, "api_load_client get|events PLACE TARGET CONNECTIONS [RATE] SECONDS\n"), 2;
  const auto count = static_cast<std::size_t>(std::atoi(argv[4]));
  asio::io_context io(1);
  ssl::context tls(ssl::context::tls_client);
  Results results;
  std::vector<std::unique_ptr<Stream>> streams;
  for (std::size_t i = 0; i < count; ++i) {
    streams.push_back(std::make_unique<Stream>(io, tls, argv[2], i));
    // The API takes 200 new connections a second.
    if (i % 50 == 49) std::this_thread::sleep_for(std::chrono::milliseconds(400));
  }
  const auto failed = [&](const std::exception_ptr& error) { results.errors += error ? 1 : 0; };
  const auto seconds =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::atof(argv[argc - 1])));
  const auto begin = Clock::now();
  const auto pace = gets ? std::chrono::duration_cast<Clock::duration>(
                               std::chrono::duration<double>(static_cast<double>(count) / std::atof(argv[5])))
                         : Clock::duration{};
  for (std::size_t i = 0; i < count; ++i) {
    auto* stream = streams[i].get();
    const auto request = request_of(argv[3], gets ? "application/json" : "text/event-stream");
    if (gets) {
      const auto first = begin + pace * static_cast<long>(i) / static_cast<long>(count);
      asio::co_spawn(io, load(stream, request, first, pace, begin + seconds, &results), failed);
    } else {
      asio::co_spawn(io, follow(stream, request, &results), failed);
    }
  }
  if (!gets) std::puts("following"), std::fflush(stdout);
  io.run_for(seconds + std::chrono::seconds(gets ? 30 : 0));
  print(results, count);
  return 0;
}
