import { formatAccessToken } from "../src/domain/access-token.ts";
import type { Choices } from "./random.ts";

/* Changes of a request: those that leave its meaning, and those around the plain form. One character is one byte. */

export interface Draft {
  head: string;
  /** Between head and body. */
  blank: string;
  body: string;
}

/** Replacements in the head: the text, and its replacements between bars. */
type Change = readonly [of: RegExp, to: string];

/** A token of the right form that does not exist. */
export const UNKNOWN_TOKEN = formatAccessToken("production", new Uint8Array(32));

const VARIATIONS: readonly Change[] = [
  [/Content-Type:/, "content-type:|CONTENT-TYPE:|Content-Type:|content-Type:   "],
  [/Content-Length: (\d+)/, "content-length: $1|CONTENT-LENGTH:$1|Content-Length:    $1  |content-length:$1 "],
  [/Authorization: Bearer (\S+)/, "authorization: Bearer $1|AUTHORIZATION:bearer $1|Authorization:   BEARER   $1  "],
  [
    /Host: (.*)/,
    "host:$1|HOST: $1  |$&\r\nX: y|$&\r\nConnection: keep-alive|$&\r\nconnection:Keep-Alive|$&\r\nUser-Agent: till/1.0 (x; y)",
  ],
  [/Host:/, "Accept: */*\r\nHost:|X-Empty:\r\nHost:|X-Tab: a\tb\r\nHost:|Cookie: a=b\r\nHost:"],
  [
    /Host:/,
    "X-Forwarded-For: 10.1.2.3\r\nHost:|x-forwarded-for: 10.9.9.9, 10.1.2.3\r\nHost:|X-Forwarded-For: x\r\nHost:",
  ],
  [/application\/json/, "application/json; charset=utf-8|application/json;charset=utf-8|Application/JSON"],
];

/** Kinds of changes in the head; each kind comes equally often. */
const HEADS: readonly (readonly Change[])[] = [
  [
    [/ HTTP\/1\.1/, " HTTP/1.0"],
    [/POST/, "post|Post|GET|HEAD|PUT|OPTIONS|PROPFIND|CONNECT|NONSENSE|POST |POST\t| POST|\tPOST|P\0ST"],
    [/^.*/, "GET /healthz HTTP/1.1|HEAD /readyz HTTP/1.1|GET /docs HTTP/1.1|GET / HTTP/1.1|OPTIONS * HTTP/1.1|GET|/|"],
    [/^.*/, "GET /openapi/v1.0.1.json HTTP/1.1|GET /docs/x HTTP/1.1|POST /healthz HTTP/1.1|PRI * HTTP/2.0"],
    [/ HTTP\/1\.1/, "| HTTP/1.2| HTTP/2.0| HTTP/0.9| http/1.1| HTTP/1.1 | HTTP/1.1\t| HTTP/01.1|  HTTP/1.1|\tHTTP/1.1"],
    [/ (\/\S+)/, " $1?a=b| $1?| $1#f| $1/| $1%20| $1x| $1\xe9| $1\0| $1;x| $1 x| $1?%zz| $1\x7f| $1\\| $1|"],
    [/ (\/\S+)/, " http://localhost$1| HTTP://elsewhere:80$1| //host$1| /$1| /.$1| /x/..$1| *| localhost:80| \\$1"],
    [/v1\.0\.\d|staging|txn|get/, "v9.9.9|V1.0.1|Staging|%74xn|trx|GET|"],
  ],
  [
    [
      /Host:/,
      "Transfer-Encoding: chunked\r\n$&|Transfer-Encoding: identity\r\n$&|transfer-encoding:\r\n$&|TE: trailers\r\n$&",
    ],
    [/$/, "\r\nTransfer-Encoding: chunked, chunked|\r\nTransfer-Encoding: gzip|\r\nTransfer-Encoding: xchunked"],
    [/Host:/, "Expect: 100-continue\r\n$&|expect: 100-Continue\r\n$&|Expect: nonsense\r\n$&|Trailer: X\r\n$&"],
    [/Host:/, "Connection: close\r\n$&|connection: Close\r\n$&|Connection: keep-alive, close\r\n$&|Connection:\r\n$&"],
    [
      /$/,
      "\r\nConnection: upgrade|\r\nConnection: x|\r\nConnection: close, x|\r\nProxy-Connection: close|\r\nKeep-Alive: 5",
    ],
    [/Host:/, "Upgrade: h2c\r\n$&|Upgrade:\r\n$&|Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\n$&"],
    [
      /$/,
      "\r\nContent-Encoding: gzip|\r\nContent-Encoding: identity|\r\nContent-Encoding:|\r\ncontent-encoding: x, identity",
    ],
    [
      /Host: .*/,
      "Host: other|Host:||X: y|$&\r\nhost: other|$&\r\n__proto__: x|$&\r\nconstructor: x|$&\r\nIf-None-Match: *|$&\r\nAccept-Encoding: gzip",
    ],
    [
      /$/,
      "\r\nX-Forwarded-For: 10.1.2.3\r\nx-forwarded-for: 10.9.9.9|\r\nAccept: a\r\naccept: b|\r\nCookie: a\r\ncookie: b",
    ],
  ],
  [
    [
      /(Content-Length:) (\d+)/i,
      "$1 +$2|$1 -$2|$1 0$2|$1 000$2|$1 0x$2|$1 \t$2|$1 =$2|$1 $2 \t|$1 $2,|$1 $2.0|$1 $2 5|$1 $2e0|$1 5,$2",
    ],
    [
      /(Content-Length:) (\d+)/i,
      "$1 0|$1 1|$1 3|$1 9|$1 99|$1 199|$1 4096|$1 4097|$1 99999999999999999999|$1|$1 -1|$1 -0|$1 a",
    ],
    [
      /(Content-Length:) (\d+)/i,
      "X: y|$&\r\n$&|$& , $2|$1 1\r\n$&|$&\r\ncontent-length: 1|CONTENT-LENGTH: $2\r\n$&|$1 $2\x0b",
    ],
  ],
  [
    [
      /application\/json.*/i,
      'text/plain||json|application/json; charset="utf-8"|application/json; charset=UTF8|application/jsonp',
    ],
    [
      /application\/json.*/i,
      "$&; charset=latin1|$&,|$& ; x=y|$&; x=y; charset=utf-16|$&;|application/vnd.x+json|x/$&|$&/x",
    ],
    [/Content-Type:.*/i, "X: y|$&\r\n$&|$&\r\ncontent-type: text/plain|Content-Type : application/json|Content-Type"],
  ],
  [
    [
      /Authorization:.*/i,
      "X: y|Authorization: Basic eDp5|Authorization:|Authorization: Bearer|Authorization: Bearer unknown",
    ],
    [
      /Bearer (\S+)/i,
      "bearer $1|BEARER  $1|Bearer\t$1|Bearer$1|Token $1|Bearer x $1|Bearer $1 x|Bearer $1,|Bearer $1\t|Bearer $1\xe9",
    ],
    [
      /Authorization:.*/i,
      "$&\r\n$&|$&\r\nauthorization: Bearer unknown|Authorization: Bearer unknown\r\n$&|X: y\r\n$&x",
    ],
    [/Bearer (\S+)/i, `Bearer ${UNKNOWN_TOKEN}|Bearer "$1"|Bearer $1\r\n |$1`],
  ],
  [
    [
      /Host:/,
      "X: \xe9\xff\r\n$&|X: \x80\r\n$&|X: a\0b\r\n$&|X: a\x01b\r\n$&|X: a\x7fb\r\n$&|X y: z\r\n$&|X : z\r\n$&|X(y): z\r\n$&|: z\r\n$&|nonsense\r\n$&| leading\r\n$&|\tfolded\r\n$&|X\xe9: z\r\n$&|@: z\r\n$&",
    ],
    [/(\r\n[^:]*):(.*)$/, "$1 :$2|$1:\t$2|$1:$2\t|$1:\r\n $2|$1:$2\r\n\tfolded|$1:$2\x0b|$1:$2\r\n$1:$2|$1$2|$1\0:$2"],
    [/\r\n/g, "\n|\r|\r\r\n|\n\r|\r\n\r\n"],
    [/\r\n/, "\n|\r|\n\n|\r\n |\r\n\r\n"],
    [/\r\n(?=[^\n]*$)/, "\n|\r|\r\n |\r\n\t|\r\n\r\n"],
    [/^/, "\r\n|\r\n\r\n|\n|\r| |\0|\x16\x03\x01|\xef\xbb\xbf"],
  ],
];

const BLANKS = ["\n\n", "\r\r", "\n\r\n", "\r\n\n", "\r\n\r", "\r\n \r\n", "\r\n", ""];
/** Lengths that a head is filled up to, and numbers of fields in it. */
const FILLED_BYTES = [1_020, 1_024, 1_030, 4_000, 8_190, 8_200, 16_300, 16_390, 20_000];
const FIELDS = [30, 300, 1_500, 2_100];

/** Bodies whose length is right; `$&` is the original body. */
const BODIES =
  '|{|[]|null|{}|{"code":"c1"|{"code":c1}|"c1"| |{]|{"code":1000001}|{"code":"c1","code":"c2"}|{"code":"c1","\\u0063ode":"c2"}' +
  '|{"code":1e3}|{"code":"\xc3\x28"}|{"code":"\xc0\xaf"}|{"code":"\xed\xa0\x80"}|{"code":"\xe9"}|{"code":"c1\xff|{"code":"a\0b"}' +
  '|{"code":"a\nb"}|{"__proto__":{"code":"c1"}}|{"code":null}|{"code":{}}|{"code":" c1 "}|{"code":"\xe0\xa4\xa8"}|\xef\xbb\xbf$&' +
  `| \r\n$&|\0$&|$&\0|$&\xff|$&$&|$& ${" ".repeat(900)}|${"[".repeat(20)}${"]".repeat(20)}`;
/** Bodies of exactly the maximum length, or one byte more. */
const LONGEST = [4_095, 4_096, 4_097, 5_000];
/** `#` is the length of the body in hexadecimal digits. */
const CHUNKS =
  "#\r\n$&\r\n0\r\n\r\n|#;x=y\r\n$&\r\n0\r\nX: y\r\n\r\n|#\n$&\n0\n\n|zz\r\n$&\r\n0\r\n\r\n|-1\r\n$&|0\r\n\r\n$&|$&";

const WHOLE = /^.*$/s;

function change(text: string, [of, to]: Change, choices: Choices): string {
  return text.replace(of, choices.of(to.split("|")));
}

/** Changes what does not matter. */
export function vary(draft: Draft, choices: Choices): void {
  for (const variation of VARIATIONS) if (choices.below(4) === 0) draft.head = change(draft.head, variation, choices);
  const [start, ...lines] = draft.head.split("\r\n");
  if (choices.below(4) === 0) draft.head = [start, ...choices.shuffled(lines)].join("\r\n");
}

/** Changes a part that may matter. */
export function twist(draft: Draft, choices: Choices): void {
  const { head, body } = draft;
  switch (choices.below(16)) {
    case 0:
    case 1:
      setBody(draft, change(body, [WHOLE, BODIES], choices));
      return;
    case 2:
      setBody(draft, `${body.replace(/\}$/, "").padEnd(choices.of(LONGEST) - 1)}}`);
      return;
    case 3:
      draft.body = change(body, [WHOLE, CHUNKS.replaceAll("#", body.length.toString(16))], choices);
      draft.head = change(
        head,
        [/Content-Length:.*/i, "Transfer-Encoding: chunked|$&\r\nTransfer-Encoding: chunked"],
        choices,
      );
      return;
    case 4:
      draft.blank = choices.of(BLANKS);
      return;
    case 5:
      draft.head = `${head}\r\nX: `.padEnd(choices.of(FILLED_BYTES), "y");
      return;
    case 6:
      for (let left = choices.of(FIELDS); left > 0; left -= 1) draft.head += `\r\nx${left}: y`;
      return;
    default:
      draft.head = change(head, choices.of(choices.of(HEADS)), choices);
      if (!draft.head.includes("\r\n")) draft.blank = choices.of(BLANKS);
  }
}

function setBody(draft: Draft, body: string): void {
  draft.body = body;
  draft.head = draft.head.replace(/(Content-Length:) *\d+/i, `$1 ${body.length}`);
}
