-- The tables of an ordinary service, as its author would lay them out, with the customers of the bench in them:
-- as many as the setting bench.customers says.

CREATE TABLE partners (
  id   integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE
);

CREATE TABLE access_tokens (
  token_hash bytea PRIMARY KEY,
  partner_id integer NOT NULL REFERENCES partners,
  revoked_at timestamptz
);

CREATE TABLE customers (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  cuid       text NOT NULL UNIQUE,
  first_name text NOT NULL,
  last_name  text NOT NULL,
  mobile     text,
  status     text NOT NULL
);

CREATE TABLE connections (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  customer_id bigint NOT NULL REFERENCES customers,
  service     text NOT NULL,
  req_id      text NOT NULL,
  status      text NOT NULL,
  UNIQUE (customer_id, service, req_id)
);

CREATE TABLE bouquets (
  id      integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  service text NOT NULL,
  code    text NOT NULL,
  name    text NOT NULL,
  plan    text NOT NULL,
  price   numeric(12, 2) NOT NULL,
  months  integer NOT NULL,
  UNIQUE (service, code)
);

CREATE TABLE subscriptions (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  connection_id bigint NOT NULL REFERENCES connections,
  plan          text NOT NULL,
  bouquet_id    integer NOT NULL REFERENCES bouquets,
  start_at      timestamptz NOT NULL,
  end_at        timestamptz NOT NULL,
  UNIQUE (connection_id, plan)
);

CREATE TABLE transactions (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  checkout_id   text NOT NULL UNIQUE,
  partner_id    integer NOT NULL REFERENCES partners,
  connection_id bigint NOT NULL REFERENCES connections,
  bouquet_id    integer NOT NULL REFERENCES bouquets,
  amount        numeric(12, 2) NOT NULL,
  udf1          text,
  udf2          text,
  status        text NOT NULL DEFAULT 'success',
  created_at    timestamptz NOT NULL DEFAULT now()
);

INSERT INTO partners (name) VALUES ('bench');

INSERT INTO bouquets (service, code, name, plan, price, months) VALUES
  ('internet', 'NET-1M', 'Fiber 100 Mbps (MONTHLY)', 'Fiber 100 Mbps', 1130, 1),
  ('internet', 'NET-3M', 'Fiber 100 Mbps (QUARTERLY)', 'Fiber 100 Mbps', 3220, 3),
  ('internet', 'NET-6M', 'Fiber 100 Mbps (HALF YEARLY)', 'Fiber 100 Mbps', 6100, 6),
  ('internet', 'NET-12M', 'Fiber 100 Mbps (YEARLY)', 'Fiber 100 Mbps', 11520, 12),
  ('internet', 'PLUS-1M', 'Fiber 300 Mbps (MONTHLY)', 'Fiber 300 Mbps', 1690.5, 1),
  ('internet', 'PLUS-3M', 'Fiber 300 Mbps (QUARTERLY)', 'Fiber 300 Mbps', 4820, 3),
  ('internet', 'PLUS-12M', 'Fiber 300 Mbps (YEARLY)', 'Fiber 300 Mbps', 17240, 12),
  ('internet', 'IP-1M', 'Static IP [AddOn] (MONTHLY)', 'Static IP [AddOn]', 500, 1);

INSERT INTO customers (cuid, first_name, last_name, mobile, status)
SELECT '2' || lpad(n::text, 7, '0'), 'First' || n, 'Sherpa', '98' || lpad(n::text, 7, '0') || '0', 'active'
FROM generate_series(0, current_setting('bench.customers')::integer - 1) AS n;

INSERT INTO connections (customer_id, service, req_id, status)
SELECT id, 'internet', 'user' || substr(cuid, 2), 'active' FROM customers ORDER BY id;

INSERT INTO connections (customer_id, service, req_id, status)
SELECT id, 'tv', '0077' || substr(cuid, 2), 'active' FROM customers WHERE id % 2 = 1 ORDER BY id;

INSERT INTO subscriptions (connection_id, plan, bouquet_id, start_at, end_at)
SELECT n.id, b.plan, b.id, '2026-11-01 09:00:00Z', '2027-11-01 09:00:00Z'
FROM connections AS n JOIN bouquets AS b ON b.code = 'NET-1M'
WHERE n.service = 'internet' ORDER BY n.id;
