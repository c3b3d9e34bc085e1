-- Sends the lines of a file as bodies, each once, and prints what came of it as JSON.
local bodies, last = {}, 0

function init(args)
  local file = assert(io.open(args[1], "r"))
  for line in file:lines() do bodies[#bodies + 1] = line end
  file:close()
  wrk.method = "POST"
  wrk.headers["content-type"] = "application/json"
  wrk.headers["authorization"] = "Bearer " .. args[2]
end

function request()
  last = last + 1
  return wrk.format(nil, nil, nil, bodies[(last - 1) % #bodies + 1])
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"failed":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout
  ))
end
