// The limit of the runtime: a bare server that reads and parses the request, and answers a constant.
import { createServer } from "node:http";

const [, , size = "200"] = process.argv;
const answer = Buffer.from(JSON.stringify({ body: "x".repeat(Math.max(0, Number(size) - 11)) }));
const headers = { "content-type": "application/json; charset=utf-8", "content-length": answer.length };

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    JSON.parse(Buffer.concat(chunks).toString("utf8"));
    response.writeHead(200, headers).end(answer);
  });
});
server.listen(0, "127.0.0.1", () => process.stderr.write(`{"url":"http://127.0.0.1:${server.address().port}"}\n`));
