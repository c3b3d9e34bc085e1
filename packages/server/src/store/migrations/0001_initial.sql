-- Of both engines: see ../migrations.ts.
-- Instants are milliseconds since 1970-01-01 UTC; wall times are texts of the provider's zone, YYYY-MM-DD HH:MM:SS;
-- amounts are minor units of the provider's currency; flags are 0 or 1.

CREATE TABLE schema_migration (
  number     INTEGER PRIMARY KEY,
  name       TEXT    NOT NULL,
  checksum   TEXT    NOT NULL,
  applied_at INTEGER NOT NULL
) STRICT;

CREATE TABLE provider (
  only_row          INTEGER PRIMARY KEY CHECK (only_row = 1),
  time_zone         TEXT    NOT NULL,
  currency_exponent INTEGER NOT NULL,
  -- ISO 3166; null where mobile numbers are compared as they are written.
  default_country   TEXT
) STRICT;

CREATE TABLE checkout_secret (
  id         INTEGER PRIMARY KEY CHECK (id BETWEEN 0 AND 15),
  key        BLOB    NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- The horizon: what is from before it may have been let go by topupd prune. No row: nothing ever was.
CREATE TABLE retention (
  only_row      INTEGER PRIMARY KEY DEFAULT 1 CHECK (only_row = 1),
  pruned_before INTEGER NOT NULL
) STRICT;

CREATE TABLE partner (
  id         INTEGER PRIMARY KEY,
  name       TEXT    NOT NULL UNIQUE,
  status     TEXT    NOT NULL CHECK (status IN ('active', 'suspended')),
  created_at INTEGER NOT NULL,
  -- A JSON list of CIDR ranges; null where requests may come from anywhere.
  allowed_addresses TEXT
) STRICT;

CREATE TABLE access_token (
  hash        BLOB    PRIMARY KEY,
  id          TEXT    NOT NULL UNIQUE,
  partner_id  INTEGER NOT NULL REFERENCES partner,
  environment TEXT    NOT NULL CHECK (environment IN ('trial', 'production')),
  created_at  INTEGER NOT NULL,
  expires_at  INTEGER,
  revoked_at  INTEGER,
  -- The id of the token that was issued to take its place.
  replaced_by TEXT
) STRICT, WITHOUT ROWID;

-- Apart from access_token, since it is written all the time.
CREATE TABLE access_token_use (
  token_id     TEXT    PRIMARY KEY REFERENCES access_token (id),
  last_used_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE catalogue_revision (
  revision    INTEGER PRIMARY KEY,
  environment TEXT    NOT NULL CHECK (environment IN ('trial', 'production')),
  created_at  INTEGER NOT NULL
) STRICT;

CREATE INDEX catalogue_revision_by_environment ON catalogue_revision (environment, revision);

CREATE TABLE bouquet (
  revision INTEGER NOT NULL REFERENCES catalogue_revision,
  position INTEGER NOT NULL,
  service  TEXT    NOT NULL CHECK (service IN ('tv', 'internet', 'iptv')),
  code     TEXT    NOT NULL,
  name     TEXT    NOT NULL,
  price    INTEGER NOT NULL CHECK (price > 0),
  -- A JSON list.
  segments TEXT    NOT NULL,
  plan     TEXT    NOT NULL,
  add_on   INTEGER NOT NULL CHECK (add_on IN (0, 1)),
  months   INTEGER NOT NULL CHECK (months >= 0),
  days     INTEGER NOT NULL CHECK (days >= 0),
  PRIMARY KEY (revision, position),
  UNIQUE (service, code, revision)
) STRICT, WITHOUT ROWID;

CREATE TABLE customer (
  cuid        TEXT NOT NULL,
  environment TEXT NOT NULL CHECK (environment IN ('trial', 'production')),
  first_name  TEXT NOT NULL,
  last_name   TEXT NOT NULL,
  mobile      TEXT,
  -- The one form of the mobile number, where it is one and the provider has a country.
  mobile_e164 TEXT,
  status      TEXT NOT NULL CHECK (status IN ('active', 'inactive')),
  -- Up to when the last row of a customers file held what was made here.
  as_of       INTEGER,
  PRIMARY KEY (cuid, environment)
) STRICT, WITHOUT ROWID;

-- Whatever a customer can be looked up by: mobile number, cuid, set-top box or username.
CREATE TABLE customer_code (
  code        TEXT NOT NULL,
  environment TEXT NOT NULL,
  cuid        TEXT NOT NULL,
  PRIMARY KEY (code, environment, cuid)
) STRICT, WITHOUT ROWID;

CREATE TABLE connection (
  cuid        TEXT    NOT NULL,
  environment TEXT    NOT NULL,
  service     TEXT    NOT NULL CHECK (service IN ('tv', 'internet', 'iptv')),
  req_id      TEXT    NOT NULL,
  -- The name without case and accents: see domain/connection-name.ts.
  name_key    TEXT    NOT NULL,
  position    INTEGER NOT NULL,
  -- As imported last.
  status      TEXT    NOT NULL CHECK (status IN ('active', 'inactive', 'blocked')),
  -- By staff, whatever the provider's records say.
  blocked     INTEGER NOT NULL CHECK (blocked IN (0, 1)),
  segment     TEXT,
  PRIMARY KEY (cuid, environment, service, req_id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX connection_by_name ON connection (name_key, environment, service);

-- One row for each ledger: what its last entry says. A ledger that comes to nothing has no code.
CREATE TABLE subscription (
  cuid        TEXT    NOT NULL,
  environment TEXT    NOT NULL,
  service     TEXT    NOT NULL,
  req_id      TEXT    NOT NULL,
  plan        TEXT    NOT NULL,
  -- Of the last entry.
  seq         INTEGER NOT NULL,
--- sqlite
  -- Where the last entry is.
  last_entry  INTEGER NOT NULL,
--- both
  code        TEXT,
  name        TEXT,
  add_on      INTEGER,
  start_time  TEXT,
  anchor_time TEXT,
  months      INTEGER,
  days        INTEGER,
  end_time    TEXT,
  since       INTEGER,
  -- Days of goodwill that are in the end.
  goodwill_days INTEGER,
  PRIMARY KEY (cuid, environment, service, req_id, plan)
) STRICT, WITHOUT ROWID;

--- postgres
-- Each top-up changes a row: with room in its page, no index is changed with it.
ALTER TABLE subscription SET (fillfactor = 60);

--- both
-- The ledgers: appended to, never changed.
CREATE TABLE ledger_entry (
--- sqlite
  -- In the order of time. Each entry leads to the one before it in its ledger, so that no index need be changed in a place
  -- of every customer's own.
  id           INTEGER PRIMARY KEY,
  previous     INTEGER,
--- postgres
  PRIMARY KEY (cuid, environment, service, req_id, plan, seq),
--- both
  cuid         TEXT    NOT NULL,
  environment  TEXT    NOT NULL,
  service      TEXT    NOT NULL,
  req_id       TEXT    NOT NULL,
  plan         TEXT    NOT NULL,
  seq          INTEGER NOT NULL CHECK (seq > 0),
  kind         TEXT    NOT NULL CHECK (kind IN ('top_up', 'goodwill', 'reversal', 'import')),
  at           INTEGER NOT NULL,
  wall         TEXT    NOT NULL,
  -- What was bought, given or stated.
  code         TEXT,
  name         TEXT,
  add_on       INTEGER,
  months       INTEGER,
  days         INTEGER,
  -- Of a top-up.
  txn_id       TEXT CHECK ((txn_id IS NULL) = (kind <> 'top_up')),
  -- Of a reversal: the seq of the entry that it takes back.
  reverses     INTEGER CHECK ((reverses IS NULL) = (kind <> 'reversal')),
  -- Of goodwill and reversals.
  author       TEXT,
  reason       TEXT,
  -- Of an import.
  as_of        INTEGER CHECK ((as_of IS NULL) = (kind <> 'import')),
  as_of_wall   TEXT,
  -- Whether the records hold goodwill.
  goodwill     TEXT CHECK ((goodwill IS NULL) = (kind <> 'import') AND goodwill IN ('held', 'lacking')),
  stated_start TEXT,
  stated_end   TEXT,
  unit         TEXT CHECK (unit IN ('month', 'day')),
  run_since    INTEGER,
  -- The subscription after it.
  after_code   TEXT,
  after_name   TEXT,
  after_add_on INTEGER,
  after_start  TEXT,
  after_anchor TEXT,
  after_months INTEGER,
  after_days   INTEGER,
  after_end    TEXT,
  after_since  INTEGER,
  after_goodwill_days INTEGER
) STRICT;

-- Keyed by the checkoutId, whose first bytes are its time of issue: the tree grows at its end.
CREATE TABLE top_up (
  checkout_id  TEXT    PRIMARY KEY,
  txn_id       TEXT    NOT NULL,
  partner_id   INTEGER NOT NULL,
  environment  TEXT    NOT NULL CHECK (environment IN ('trial', 'production')),
  cuid         TEXT    NOT NULL,
  service      TEXT    NOT NULL,
  req_id       TEXT    NOT NULL,
  bouquet_code TEXT    NOT NULL,
  amount       INTEGER NOT NULL CHECK (amount > 0),
  at           INTEGER NOT NULL,
  txn_date     TEXT    NOT NULL,
  status       TEXT    NOT NULL CHECK (status IN ('success', 'reversed')),
  udf1         TEXT,
  udf2         TEXT
) STRICT, WITHOUT ROWID;

-- A txnId begins with its time, so this index grows at its end too.
CREATE UNIQUE INDEX top_up_by_txn_id ON top_up (txn_id);

-- When a top-up was taken back, by whom and why: its own row says only that it is reversed.
CREATE TABLE reversal (
  txn_id TEXT    PRIMARY KEY,
  at     INTEGER NOT NULL,
  wall   TEXT    NOT NULL,
  author TEXT    NOT NULL,
  reason TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX reversal_by_wall ON reversal (wall);

-- Who blocked a connection last, when and why: valid while connection.blocked is set.
CREATE TABLE connection_block (
  cuid        TEXT    NOT NULL,
  environment TEXT    NOT NULL,
  service     TEXT    NOT NULL,
  req_id      TEXT    NOT NULL,
  at          INTEGER NOT NULL,
  wall        TEXT    NOT NULL,
  author      TEXT    NOT NULL,
  reason      TEXT    NOT NULL,
  PRIMARY KEY (cuid, environment, service, req_id)
) STRICT, WITHOUT ROWID;

-- Checkouts with which nothing can be recorded any more, because a partner was told so.
CREATE TABLE retired_checkout (
  checkout_id TEXT    PRIMARY KEY,
  at          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Every change by staff or an import. The hash of each covers the one before it.
CREATE TABLE audit_entry (
  seq     INTEGER PRIMARY KEY,
  at      INTEGER NOT NULL,
  author  TEXT    NOT NULL,
  action  TEXT    NOT NULL,
  subject TEXT    NOT NULL,
  reason  TEXT,
  before  TEXT,
  after   TEXT,
  hash    TEXT    NOT NULL
) STRICT;

-- The entries of an import share its reason.
CREATE INDEX audit_entry_by_reason ON audit_entry (reason, seq);

-- Systems of the provider's that are told of events.
CREATE TABLE target (
  id         INTEGER PRIMARY KEY,
  name       TEXT    NOT NULL UNIQUE,
  -- A JSON object, by its kind.
  config     TEXT    NOT NULL,
  -- A JSON list: see Target in domain/target.ts.
  secrets    TEXT    NOT NULL,
  billing      INTEGER NOT NULL CHECK (billing IN (0, 1)),
  paused     INTEGER NOT NULL CHECK (paused IN (0, 1)),
  created_at INTEGER NOT NULL,
  -- When staff had all that waits tried again: whoever delivers reads it anew.
  resent_at  INTEGER,
  -- The number of the event up to which it has taken on each: what of these failed is in delivery.
  place      INTEGER NOT NULL
) STRICT;

-- Written in the transactions that make events happen, while there is a target, and numbered in the order of commits. The
-- last one stays, so that no number is given twice.
CREATE TABLE event (
  seq         INTEGER PRIMARY KEY,
  kind        TEXT    NOT NULL,
  at          INTEGER NOT NULL,
  environment TEXT    NOT NULL,
  cuid        TEXT    NOT NULL,
  service     TEXT    NOT NULL,
  req_id      TEXT    NOT NULL,
  -- Of a top-up and its reversal.
  partner_id  INTEGER,
  -- A JSON object: the connection's state after it, and the top-up.
  state       TEXT    NOT NULL
) STRICT;

-- Events that a target did not take, and those that wait behind them.
CREATE TABLE delivery (
  target_id INTEGER NOT NULL REFERENCES target,
  seq       INTEGER NOT NULL REFERENCES event,
  attempts  INTEGER NOT NULL,
  failed_at INTEGER,
  next_at   INTEGER NOT NULL,
  set_aside INTEGER NOT NULL CHECK (set_aside IN (0, 1)),
  problem   TEXT,
  PRIMARY KEY (target_id, seq)
) STRICT, WITHOUT ROWID;

-- What one process at a time does.
CREATE TABLE lease (
  name       TEXT    PRIMARY KEY,
  holder     TEXT    NOT NULL,
  held_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Up to when, on the wall clock, events tell of subscriptions that ended.
CREATE TABLE ends_told (
  only_row   INTEGER PRIMARY KEY DEFAULT 1 CHECK (only_row = 1),
  told_until TEXT    NOT NULL
) STRICT;

-- Refused calls of partners, for a while: what staff look at when a customer complains.
CREATE TABLE attempt (
  id          INTEGER PRIMARY KEY,
  at          INTEGER NOT NULL,
  partner_id  INTEGER NOT NULL,
  environment TEXT    NOT NULL,
  -- As the path has it.
  operation   TEXT    NOT NULL,
  -- Of the failure, as on the wire.
  reason      TEXT    NOT NULL,
  -- The customer id or code that was sent; null where none was.
  code        TEXT,
  request_id  TEXT    NOT NULL
) STRICT;

CREATE INDEX attempt_by_code ON attempt (code, id) WHERE code IS NOT NULL;

-- People who work with the console.
CREATE TABLE staff (
  id              INTEGER PRIMARY KEY,
  name            TEXT    NOT NULL UNIQUE,
  role            TEXT    NOT NULL CHECK (role IN ('viewer', 'support', 'finance', 'admin')),
  -- scrypt, with its parameters and its salt.
  password        TEXT    NOT NULL,
  -- Of one-time codes, in base 32; null where the person has not switched them on.
  totp_secret     TEXT,
  -- The step of the last one-time code that was taken: none is taken twice.
  totp_step       INTEGER,
  -- A JSON list of hashes of the codes that are left.
  recovery_codes  TEXT    NOT NULL,
  -- A JSON list of the networks from which the person has logged in, newest first.
  networks        TEXT    NOT NULL,
  created_at      INTEGER NOT NULL
) STRICT;

CREATE TABLE staff_session (
  hash         BLOB    PRIMARY KEY,
  -- Names it to its owner; of no use to a thief.
  id           TEXT    NOT NULL UNIQUE,
  staff_id     INTEGER NOT NULL REFERENCES staff,
  created_at   INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL,
  address      TEXT,
  user_agent   TEXT
) STRICT, WITHOUT ROWID;

-- Log-ins of the last quarter of an hour that failed, or are not decided yet.
CREATE TABLE log_in_failure (
  id     TEXT    PRIMARY KEY,
  at     INTEGER NOT NULL,
  name   TEXT    NOT NULL,
  -- The network of the caller; where somebody who has logged in gave the password again, the session.
  source TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX log_in_failure_by_source ON log_in_failure (source, at);

-- Of the provider's own systems.
CREATE TABLE staff_key (
  hash         BLOB    PRIMARY KEY,
  name         TEXT    NOT NULL UNIQUE,
  role         TEXT    NOT NULL CHECK (role IN ('viewer', 'support', 'finance', 'admin')),
  created_at   INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT, WITHOUT ROWID;

-- Answers to requests with an Idempotency-Key, for a day.
CREATE TABLE staff_answer (
  -- SHA-256 of who asked and of the key.
  hash    BLOB    PRIMARY KEY,
  -- The account or the key that asked.
  owner   TEXT    NOT NULL,
  -- SHA-256 of what was asked.
  request BLOB    NOT NULL,
  at      INTEGER NOT NULL,
  -- Null until it is answered.
  status  INTEGER,
  -- Null where it holds a secret, which is shown once.
  body    TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX staff_answer_by_at ON staff_answer (at);
CREATE INDEX staff_answer_by_owner ON staff_answer (owner);

-- The last imports of files.
CREATE TABLE import_run (
  id          INTEGER PRIMARY KEY,
  kind        TEXT    NOT NULL CHECK (kind IN ('customers', 'catalogue')),
  environment TEXT    NOT NULL,
  author      TEXT    NOT NULL,
  file        TEXT    NOT NULL,
  as_of       TEXT,
  started_at  INTEGER NOT NULL,
  -- Null while it runs, and of one that was interrupted.
  ended_at    INTEGER,
  outcome     TEXT    NOT NULL CHECK (outcome IN ('running', 'done', 'refused', 'failed')),
  -- A JSON object: its counts; null of one that was refused, since it changed nothing.
  report      TEXT,
  -- Why it was refused or failed, in words.
  problem     TEXT
) STRICT;

-- Subscriptions of the last customers file of each environment that it would have ended though they were paid for.
CREATE TABLE held_back (
  id          INTEGER PRIMARY KEY,
  environment TEXT    NOT NULL,
  cuid        TEXT    NOT NULL,
  service     TEXT    NOT NULL,
  req_id      TEXT    NOT NULL,
  plan        TEXT    NOT NULL,
  -- What is kept, and until when; and when the file ends it, null where it does not have it.
  code        TEXT    NOT NULL,
  kept_end    TEXT,
  stated_end  TEXT,
  txn_id      TEXT,
  -- Days of goodwill that keep it. If nobody said whether the file holds them: when they were given, and where a file that
  -- lacks them ends it.
  goodwill_days INTEGER,
  goodwill_at   TEXT,
  lacking_end   TEXT,
  line        INTEGER NOT NULL,
  -- The customer's row of the file, as JSON, with its asOf.
  source_row  TEXT    NOT NULL
) STRICT;

-- When a backup was last taken.
CREATE TABLE backup_taken (
  only_row INTEGER PRIMARY KEY DEFAULT 1 CHECK (only_row = 1),
  at       INTEGER NOT NULL
) STRICT;

-- Ledgers, top-ups and the audit trail stay as they were recorded. Only what is from before the horizon may go.
--- sqlite
CREATE TRIGGER ledger_entry_stays BEFORE UPDATE ON ledger_entry
  BEGIN SELECT RAISE(ABORT, 'a ledger entry is never changed'); END;
CREATE TRIGGER ledger_entry_remains BEFORE DELETE ON ledger_entry
  WHEN NOT EXISTS (SELECT 1 FROM retention WHERE OLD.at < pruned_before)
  BEGIN SELECT RAISE(ABORT, 'a ledger entry is never deleted'); END;
CREATE TRIGGER top_up_stays BEFORE UPDATE OF checkout_id, txn_id, partner_id, environment, cuid, service, req_id,
    bouquet_code, amount, at, txn_date, udf1, udf2 ON top_up
  BEGIN SELECT RAISE(ABORT, 'a top-up is never changed'); END;
CREATE TRIGGER top_up_stays_reversed BEFORE UPDATE OF status ON top_up WHEN OLD.status = 'reversed'
  BEGIN SELECT RAISE(ABORT, 'a reversal is for good'); END;
CREATE TRIGGER top_up_remains BEFORE DELETE ON top_up
  WHEN NOT EXISTS (SELECT 1 FROM retention WHERE OLD.at < pruned_before)
  BEGIN SELECT RAISE(ABORT, 'a top-up is never deleted'); END;
CREATE TRIGGER audit_entry_stays BEFORE UPDATE ON audit_entry
  BEGIN SELECT RAISE(ABORT, 'the audit trail is never changed'); END;
CREATE TRIGGER audit_entry_remains BEFORE DELETE ON audit_entry
  BEGIN SELECT RAISE(ABORT, 'the audit trail is never shortened'); END;

--- postgres
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
