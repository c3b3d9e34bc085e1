-- Instants are milliseconds since 1970-01-01 UTC; wall times are texts of the provider's zone, YYYY-MM-DD HH:MM:SS;
-- amounts are minor units of the provider's currency; flags are 0 or 1. Texts are compared byte by byte, whatever the
-- language of the server.

CREATE TABLE provider (
  only_row          integer PRIMARY KEY CHECK (only_row = 1),
  time_zone         text COLLATE "C" NOT NULL,
  currency_exponent integer NOT NULL,
  -- ISO 3166; null where mobile numbers are compared as they are written.
  default_country   text COLLATE "C"
);

CREATE TABLE checkout_secret (
  id         integer PRIMARY KEY CHECK (id BETWEEN 0 AND 15),
  key        bytea NOT NULL,
  created_at bigint NOT NULL
);

-- The horizon: what is from before it may have been let go by topupd prune. No row: nothing ever was.
CREATE TABLE retention (
  only_row      integer PRIMARY KEY DEFAULT 1 CHECK (only_row = 1),
  pruned_before bigint NOT NULL
);

CREATE TABLE partner (
  id         integer PRIMARY KEY,
  name       text COLLATE "C" NOT NULL UNIQUE,
  status     text COLLATE "C" NOT NULL CHECK (status IN ('active', 'suspended')),
  created_at bigint NOT NULL,
  -- A JSON list of CIDR ranges; null where requests may come from anywhere.
  allowed_addresses text COLLATE "C"
);

CREATE TABLE access_token (
  hash        bytea PRIMARY KEY,
  id          text COLLATE "C" NOT NULL UNIQUE,
  partner_id  integer NOT NULL REFERENCES partner,
  environment text COLLATE "C" NOT NULL CHECK (environment IN ('trial', 'production')),
  created_at  bigint NOT NULL,
  expires_at  bigint,
  revoked_at  bigint,
  -- The id of the token that was issued to take its place.
  replaced_by text COLLATE "C"
);

-- Apart from access_token, since it is written all the time.
CREATE TABLE access_token_use (
  token_id     text COLLATE "C" PRIMARY KEY REFERENCES access_token (id),
  last_used_at bigint NOT NULL
);

CREATE TABLE catalogue_revision (
  revision    integer PRIMARY KEY,
  environment text COLLATE "C" NOT NULL CHECK (environment IN ('trial', 'production')),
  created_at  bigint NOT NULL
);

CREATE INDEX catalogue_revision_by_environment ON catalogue_revision (environment, revision);

CREATE TABLE bouquet (
  revision integer NOT NULL REFERENCES catalogue_revision,
  position integer NOT NULL,
  service  text COLLATE "C" NOT NULL CHECK (service IN ('tv', 'internet', 'iptv')),
  code     text COLLATE "C" NOT NULL,
  name     text COLLATE "C" NOT NULL,
  price    bigint NOT NULL CHECK (price > 0),
  -- A JSON list.
  segments text COLLATE "C" NOT NULL,
  plan     text COLLATE "C" NOT NULL,
  add_on   integer NOT NULL CHECK (add_on IN (0, 1)),
  months   integer NOT NULL CHECK (months >= 0),
  days     integer NOT NULL CHECK (days >= 0),
  PRIMARY KEY (revision, position),
  UNIQUE (service, code, revision)
);

CREATE TABLE customer (
  cuid        text COLLATE "C" NOT NULL,
  environment text COLLATE "C" NOT NULL CHECK (environment IN ('trial', 'production')),
  first_name  text COLLATE "C" NOT NULL,
  last_name   text COLLATE "C" NOT NULL,
  mobile      text COLLATE "C",
  -- The one form of the mobile number, where it is one and the provider has a country.
  mobile_e164 text COLLATE "C",
  status      text COLLATE "C" NOT NULL CHECK (status IN ('active', 'inactive')),
  -- Up to when the last row of a customers file held what was made here.
  as_of       bigint,
  PRIMARY KEY (cuid, environment)
);

-- Whatever a customer can be looked up by: mobile number, cuid, set-top box or username.
CREATE TABLE customer_code (
  code        text COLLATE "C" NOT NULL,
  environment text COLLATE "C" NOT NULL,
  cuid        text COLLATE "C" NOT NULL,
  PRIMARY KEY (code, environment, cuid)
);

CREATE TABLE connection (
  cuid        text COLLATE "C" NOT NULL,
  environment text COLLATE "C" NOT NULL,
  service     text COLLATE "C" NOT NULL CHECK (service IN ('tv', 'internet', 'iptv')),
  req_id      text COLLATE "C" NOT NULL,
  position    integer NOT NULL,
  -- As imported last.
  status      text COLLATE "C" NOT NULL CHECK (status IN ('active', 'inactive', 'blocked')),
  -- By staff, whatever the provider's records say.
  blocked     integer NOT NULL CHECK (blocked IN (0, 1)),
  segment     text COLLATE "C",
  PRIMARY KEY (cuid, environment, service, req_id)
);

-- One row for each ledger: what its last entry says. A ledger that comes to nothing has no code.
CREATE TABLE subscription (
  cuid        text COLLATE "C" NOT NULL,
  environment text COLLATE "C" NOT NULL,
  service     text COLLATE "C" NOT NULL,
  req_id      text COLLATE "C" NOT NULL,
  plan        text COLLATE "C" NOT NULL,
  -- Of the last entry.
  seq         integer NOT NULL,
  code        text COLLATE "C",
  name        text COLLATE "C",
  add_on      integer,
  start_time  text COLLATE "C",
  anchor_time text COLLATE "C",
  months      integer,
  days        integer,
  end_time    text COLLATE "C",
  since       integer,
  PRIMARY KEY (cuid, environment, service, req_id, plan)
);

-- The ledgers: appended to, never changed.
CREATE TABLE ledger_entry (
  cuid         text COLLATE "C" NOT NULL,
  environment  text COLLATE "C" NOT NULL,
  service      text COLLATE "C" NOT NULL,
  req_id       text COLLATE "C" NOT NULL,
  plan         text COLLATE "C" NOT NULL,
  seq          integer NOT NULL CHECK (seq > 0),
  kind         text COLLATE "C" NOT NULL CHECK (kind IN ('top_up', 'goodwill', 'reversal', 'import')),
  at           bigint NOT NULL,
  wall         text COLLATE "C" NOT NULL,
  -- What was bought, given or stated.
  code         text COLLATE "C",
  name         text COLLATE "C",
  add_on       integer,
  months       integer,
  days         integer,
  -- Of a top-up.
  txn_id       text COLLATE "C" CHECK ((txn_id IS NULL) = (kind <> 'top_up')),
  -- Of a reversal: the seq of the entry that it takes back.
  reverses     integer CHECK ((reverses IS NULL) = (kind <> 'reversal')),
  -- Of goodwill and reversals.
  author       text COLLATE "C",
  reason       text COLLATE "C",
  -- Of an import.
  as_of        bigint CHECK ((as_of IS NULL) = (kind <> 'import')),
  as_of_wall   text COLLATE "C",
  stated_start text COLLATE "C",
  stated_end   text COLLATE "C",
  unit         text COLLATE "C" CHECK (unit IN ('month', 'day')),
  run_since    integer,
  -- The subscription after it.
  after_code   text COLLATE "C",
  after_name   text COLLATE "C",
  after_add_on integer,
  after_start  text COLLATE "C",
  after_anchor text COLLATE "C",
  after_months integer,
  after_days   integer,
  after_end    text COLLATE "C",
  after_since  integer,
  PRIMARY KEY (cuid, environment, service, req_id, plan, seq)
);

-- The key keeps a checkoutId from being used twice.
CREATE TABLE top_up (
  checkout_id  text COLLATE "C" PRIMARY KEY,
  txn_id       text COLLATE "C" NOT NULL,
  partner_id   integer NOT NULL,
  environment  text COLLATE "C" NOT NULL CHECK (environment IN ('trial', 'production')),
  cuid         text COLLATE "C" NOT NULL,
  service      text COLLATE "C" NOT NULL,
  req_id       text COLLATE "C" NOT NULL,
  bouquet_code text COLLATE "C" NOT NULL,
  amount       bigint NOT NULL CHECK (amount > 0),
  at           bigint NOT NULL,
  txn_date     text COLLATE "C" NOT NULL,
  status       text COLLATE "C" NOT NULL CHECK (status IN ('success', 'reversed')),
  udf1         text COLLATE "C",
  udf2         text COLLATE "C"
);

-- A txnId begins with its time, so this index grows at its end too.
CREATE UNIQUE INDEX top_up_by_txn_id ON top_up (txn_id);

-- When a top-up was taken back, by whom and why: its own row says only that it is reversed.
CREATE TABLE reversal (
  txn_id text COLLATE "C" PRIMARY KEY,
  at     bigint NOT NULL,
  wall   text COLLATE "C" NOT NULL,
  author text COLLATE "C" NOT NULL,
  reason text COLLATE "C" NOT NULL
);

CREATE INDEX reversal_by_wall ON reversal (wall);

-- Checkouts with which nothing can be recorded any more, because a partner was told so.
CREATE TABLE retired_checkout (
  checkout_id text COLLATE "C" PRIMARY KEY,
  at          bigint NOT NULL
);

-- Every change by staff or an import. The hash of each covers the one before it.
CREATE TABLE audit_entry (
  seq     integer PRIMARY KEY,
  at      bigint NOT NULL,
  author  text COLLATE "C" NOT NULL,
  action  text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  reason  text COLLATE "C",
  before  text COLLATE "C",
  after   text COLLATE "C",
  hash    text COLLATE "C" NOT NULL
);

-- Ledgers, top-ups and the audit trail stay as they were recorded. Only what is from before the horizon may go.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%', TG_ARGV[0];
END $$;

CREATE FUNCTION refuse_unless_let_go() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM retention WHERE OLD.at < pruned_before) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION '%', TG_ARGV[0];
END $$;

CREATE FUNCTION refuse_unless_reversed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.status = 'success' AND NEW.status = 'reversed' AND to_jsonb(NEW) - 'status' = to_jsonb(OLD) - 'status' THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION '%', TG_ARGV[0];
END $$;

CREATE TRIGGER ledger_entry_stays BEFORE UPDATE ON ledger_entry
  FOR EACH ROW EXECUTE FUNCTION refuse_change('a ledger entry is never changed');
CREATE TRIGGER ledger_entry_remains BEFORE DELETE ON ledger_entry
  FOR EACH ROW EXECUTE FUNCTION refuse_unless_let_go('a ledger entry is never deleted');
CREATE TRIGGER top_up_stays BEFORE UPDATE ON top_up
  FOR EACH ROW EXECUTE FUNCTION refuse_unless_reversed('a top-up is never changed');
CREATE TRIGGER top_up_remains BEFORE DELETE ON top_up
  FOR EACH ROW EXECUTE FUNCTION refuse_unless_let_go('a top-up is never deleted');
CREATE TRIGGER audit_entry_stays BEFORE UPDATE OR DELETE ON audit_entry
  FOR EACH ROW EXECUTE FUNCTION refuse_change('the audit trail is never changed');
