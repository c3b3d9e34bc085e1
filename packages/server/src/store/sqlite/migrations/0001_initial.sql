-- Times are milliseconds since 1970-01-01 UTC; amounts are minor units of the provider's currency.
-- Tables that grow lead their keys with the customer.

CREATE TABLE provider (
  only_row          INTEGER PRIMARY KEY CHECK (only_row = 1),
  time_zone         TEXT    NOT NULL,
  currency_exponent INTEGER NOT NULL,
  -- ISO 3166; null where mobile numbers are compared as they are written.
  default_country   TEXT
) STRICT;

-- By what rules of the zone times were counted and written, from when on. They come with Node.js, and change with it.
CREATE TABLE zone_rules (
  since     INTEGER PRIMARY KEY,
  time_zone TEXT    NOT NULL,
  -- From when on the wall clock is how far ahead of UTC, in milliseconds: [[from, offset], ...]
  rules     TEXT    NOT NULL
) STRICT;

CREATE TABLE checkout_secret (
  id         INTEGER PRIMARY KEY CHECK (id BETWEEN 0 AND 15),
  key        BLOB    NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- What is from before it may have been let go by topupd prune. No row: nothing ever was.
CREATE TABLE retention (
  only_row      INTEGER PRIMARY KEY DEFAULT 1 CHECK (only_row = 1),
  pruned_before INTEGER NOT NULL
) STRICT;

CREATE TABLE partner (
  id         INTEGER PRIMARY KEY,
  name       TEXT    NOT NULL UNIQUE,
  status     TEXT    NOT NULL CHECK (status IN ('active', 'suspended')),
  created_at INTEGER NOT NULL,
  -- From where requests may come, as CIDR ranges; null where they may from anywhere.
  allowed_addresses TEXT CHECK (json_type(allowed_addresses) = 'array')
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

-- Apart from access_token, since it is written all the time, and no process needs to know.
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
  segments TEXT    NOT NULL CHECK (json_type(segments) = 'array'),
  plan     TEXT    NOT NULL,
  add_on   INTEGER NOT NULL CHECK (add_on IN (0, 1)),
  months   INTEGER NOT NULL CHECK (months >= 0),
  days     INTEGER NOT NULL CHECK (days >= 0),
  PRIMARY KEY (revision, position),
  -- In this order, it leads from each code to the next one, and to the code's newest revision.
  UNIQUE (service, code, revision)
) STRICT, WITHOUT ROWID;

-- Whatever a customer can be looked up by: mobile number, cuid, set-top box or username.
CREATE TABLE customer_code (
  code        TEXT NOT NULL,
  environment TEXT NOT NULL,
  cuid        TEXT NOT NULL,
  PRIMARY KEY (code, environment, cuid)
) STRICT, WITHOUT ROWID;

-- All that belongs to a customer and changes, in one place on the disk: to whoever reads, it is the three tables that the
-- views below show. A look-up finds them beside each other in one tree where it would go to three, and a top-up changes
-- one page of it, in place.
CREATE TABLE customer_row (
  cuid             TEXT    NOT NULL,
  environment      TEXT    NOT NULL CHECK (environment IN ('trial', 'production')),
  -- 0: the customer. 1: a connection. 2: the ledger of a plan of a connection, and the subscription that it folds to.
  level            INTEGER NOT NULL,
  service          TEXT    NOT NULL,
  req_id           TEXT    NOT NULL,
  plan             TEXT    NOT NULL,
  -- Of a customer or a connection.
  status           TEXT,
  -- Of a customer.
  first_name       TEXT,
  last_name        TEXT,
  mobile           TEXT,
  -- The one form of the mobile number, where it is one and the provider has a country.
  mobile_e164      TEXT,
  -- Of a connection.
  position         INTEGER,
  topped_up        INTEGER,
  segment          TEXT,
  -- By staff, whatever the provider's records say.
  blocked          INTEGER,
  -- Of a ledger: its last grant, and that one's number in it. There is none where a subscription has no grant, which
  -- topupd check finds.
  last_grant       INTEGER,
  last_seq         INTEGER,
  -- Of a subscription. A ledger that folds to none has none of them.
  code             TEXT,
  name             TEXT,
  add_on           INTEGER,
  start_at         INTEGER,
  end_at           INTEGER,
  months           INTEGER,
  days             INTEGER,
  seconds          INTEGER,
  -- What was granted here and the provider's own records do not hold.
  topped_up_months INTEGER,
  topped_up_days   INTEGER,
  -- Of these days: how many were given for nothing.
  goodwill_days    INTEGER,
  -- Where what was granted has put the end.
  granted_end_at   INTEGER,
  PRIMARY KEY (cuid, environment, level, service, req_id, plan),
  CONSTRAINT a_row_of_its_kind CHECK (CASE
    WHEN level = 0 THEN (service, req_id, plan) = ('', '', '')
      AND first_name IS NOT NULL AND last_name IS NOT NULL AND status IS NOT NULL AND status IN ('active', 'inactive')
      AND coalesce(position, topped_up, segment, blocked, last_grant, last_seq) IS NULL
      AND coalesce(code, name, add_on, start_at, months, days, seconds, topped_up_months, topped_up_days) IS NULL
      AND coalesce(end_at, goodwill_days, granted_end_at) IS NULL
    WHEN level = 1 THEN plan = ''
      AND service IN ('tv', 'internet', 'iptv') AND status IS NOT NULL AND status IN ('active', 'inactive', 'blocked')
      AND position IS NOT NULL AND topped_up IS NOT NULL AND topped_up IN (0, 1)
      AND blocked IS NOT NULL AND blocked IN (0, 1)
      AND coalesce(first_name, last_name, mobile, mobile_e164, last_grant, last_seq) IS NULL
      AND coalesce(code, name, add_on, start_at, months, days, seconds, topped_up_months, topped_up_days) IS NULL
      AND coalesce(end_at, goodwill_days, granted_end_at) IS NULL
    WHEN level = 2 THEN (last_grant IS NULL) = (last_seq IS NULL)
      AND coalesce(status, first_name, last_name, mobile, mobile_e164, position, topped_up, segment, blocked) IS NULL
      AND CASE WHEN code IS NULL
        THEN last_grant IS NOT NULL
          AND coalesce(name, add_on, start_at, end_at, months, days, seconds) IS NULL
          AND coalesce(topped_up_months, topped_up_days, goodwill_days, granted_end_at) IS NULL
        ELSE name IS NOT NULL
          AND add_on IS NOT NULL AND add_on IN (0, 1) AND start_at IS NOT NULL AND end_at IS NOT NULL
          AND months IS NOT NULL AND days IS NOT NULL AND seconds IS NOT NULL
          AND topped_up_months IS NOT NULL AND topped_up_days IS NOT NULL AND goodwill_days IS NOT NULL
        END
    ELSE 0 END)
) STRICT, WITHOUT ROWID;

-- What was granted, in the order of time: appended to, never changed. Each leads to the one before it in its ledger, so
-- that a grant is found from its ledger, and no index need be written to in a place of every customer's own.
CREATE TABLE grant_row (
  id             INTEGER PRIMARY KEY CHECK (id > 0),
  -- The grant before it in its ledger. No other row may come to have the id of one that was let go and is still led to:
  -- the first that stays of a ledger leads to none.
  before         INTEGER CHECK (before <> id),
  cuid           TEXT    NOT NULL,
  environment    TEXT    NOT NULL CHECK (environment IN ('trial', 'production')),
  service        TEXT    NOT NULL,
  req_id         TEXT    NOT NULL,
  plan           TEXT    NOT NULL,
  -- Which of its ledger it is.
  seq            INTEGER NOT NULL CHECK (seq > 0),
  kind           TEXT    NOT NULL CHECK (kind IN ('top_up', 'goodwill', 'statement', 'withdrawal', 'reversal')),
  at             INTEGER NOT NULL,
  code           TEXT,
  name           TEXT,
  add_on         INTEGER CHECK (add_on IN (0, 1)),
  start_at       INTEGER CHECK ((start_at IS NULL) = (kind <> 'statement')),
  months         INTEGER,
  days           INTEGER,
  seconds        INTEGER,
  -- What a statement left standing of what was granted here.
  on_top_months  INTEGER CHECK ((on_top_months IS NULL) = (kind <> 'statement')),
  on_top_days    INTEGER CHECK ((on_top_days IS NULL) = (kind <> 'statement')),
  -- Of the top-up that made the grant, or that the reversal takes back.
  checkout_id    TEXT CHECK ((checkout_id IS NULL) = (kind NOT IN ('top_up', 'reversal'))),
  -- Of a statement that carries a run over from another topupd.
  granted_end_at INTEGER CHECK (granted_end_at IS NULL OR kind = 'statement'),
  -- The same: how many of the days on top were given for nothing there.
  goodwill_days  INTEGER CHECK ((goodwill_days IS NULL) = (granted_end_at IS NULL))
) STRICT;

CREATE VIEW customer AS
  SELECT cuid, environment, first_name, last_name, mobile, status, mobile_e164 FROM customer_row WHERE level = 0;

CREATE VIEW connection AS
  SELECT cuid, environment, service, req_id, position, status, topped_up, segment, blocked
  FROM customer_row WHERE level = 1;

-- What its ledger folds to.
CREATE VIEW subscription AS
  SELECT cuid, environment, service, req_id, plan, code, name, add_on, start_at, end_at, months, days, seconds,
    topped_up_months, topped_up_days, goodwill_days, granted_end_at
  FROM customer_row WHERE level = 2 AND code IS NOT NULL;

-- All grants, for whoever goes through all of them.
CREATE VIEW subscription_grant AS
  SELECT cuid, environment, service, req_id, plan, seq, kind, at, code, name, add_on, start_at, months, days, seconds,
    on_top_months, on_top_days, checkout_id, granted_end_at, goodwill_days
  FROM grant_row;

-- The grants to which ledgers lead, for whoever knows the customer or goes by them. A ledger ends where it would lead to
-- a grant that is not its own.
CREATE VIEW ledger_grant AS
  SELECT r.cuid, r.environment, r.service, r.req_id, r.plan, g.seq, g.kind, g.at, g.code, g.name, g.add_on, g.start_at,
    g.months, g.days, g.seconds, g.on_top_months, g.on_top_days, g.checkout_id, g.granted_end_at, g.goodwill_days,
    g.id
  FROM customer_row AS r CROSS JOIN grant_row AS g
  WHERE r.level = 2
    AND (g.cuid, g.environment, g.service, g.req_id, g.plan) = (r.cuid, r.environment, r.service, r.req_id, r.plan)
    AND g.id IN (
      WITH RECURSIVE ledger (id) AS (
        SELECT r.last_grant
        -- Not UNION ALL: a ledger that leads back to itself, in a damaged file, comes to an end too.
        UNION SELECT o.before FROM ledger CROSS JOIN grant_row AS o ON o.id = ledger.id
          WHERE (o.cuid, o.environment, o.service, o.req_id, o.plan) = (r.cuid, r.environment, r.service, r.req_id, r.plan))
      SELECT id FROM ledger);

-- A restore writes row by row, into whichever table it is.
CREATE TRIGGER customer_insert INSTEAD OF INSERT ON customer BEGIN
  INSERT INTO customer_row (cuid, environment, level, service, req_id, plan,
    first_name, last_name, mobile, status, mobile_e164)
  VALUES (NEW.cuid, NEW.environment, 0, '', '', '',
    NEW.first_name, NEW.last_name, NEW.mobile, NEW.status, NEW.mobile_e164);
END;
CREATE TRIGGER connection_insert INSTEAD OF INSERT ON connection BEGIN
  INSERT INTO customer_row (cuid, environment, level, service, req_id, plan, position, status, topped_up, segment, blocked)
  VALUES (NEW.cuid, NEW.environment, 1, NEW.service, NEW.req_id, '',
    NEW.position, NEW.status, NEW.topped_up, NEW.segment, NEW.blocked);
END;
-- The grants may be there already.
CREATE TRIGGER subscription_insert INSTEAD OF INSERT ON subscription BEGIN
  SELECT RAISE(ABORT, 'UNIQUE constraint failed: subscription') WHERE EXISTS (SELECT 1 FROM subscription
    WHERE cuid = NEW.cuid AND environment = NEW.environment AND service = NEW.service AND req_id = NEW.req_id
      AND plan = NEW.plan);
  UPDATE customer_row SET code = NEW.code, name = NEW.name, add_on = NEW.add_on, start_at = NEW.start_at,
      end_at = NEW.end_at, months = NEW.months, days = NEW.days, seconds = NEW.seconds,
      topped_up_months = NEW.topped_up_months, topped_up_days = NEW.topped_up_days,
      goodwill_days = NEW.goodwill_days, granted_end_at = NEW.granted_end_at
    WHERE cuid = NEW.cuid AND environment = NEW.environment AND level = 2 AND service = NEW.service
      AND req_id = NEW.req_id AND plan = NEW.plan;
  INSERT INTO customer_row (cuid, environment, level, service, req_id, plan, code, name, add_on, start_at, end_at,
    months, days, seconds, topped_up_months, topped_up_days, goodwill_days, granted_end_at)
  SELECT NEW.cuid, NEW.environment, 2, NEW.service, NEW.req_id, NEW.plan, NEW.code, NEW.name, NEW.add_on, NEW.start_at,
    NEW.end_at, NEW.months, NEW.days, NEW.seconds, NEW.topped_up_months, NEW.topped_up_days, NEW.goodwill_days,
    NEW.granted_end_at
  WHERE NOT EXISTS (SELECT 1 FROM customer_row WHERE cuid = NEW.cuid AND environment = NEW.environment AND level = 2
    AND service = NEW.service AND req_id = NEW.req_id AND plan = NEW.plan);
END;
-- They may come in any order. Mostly it is their own, and none of the ledger is read then.
CREATE TRIGGER subscription_grant_insert INSTEAD OF INSERT ON subscription_grant BEGIN
  SELECT RAISE(ABORT, 'a grant is never changed') FROM customer_row AS r
    WHERE r.cuid = NEW.cuid AND r.environment = NEW.environment AND r.level = 2 AND r.service = NEW.service
      AND r.req_id = NEW.req_id AND r.plan = NEW.plan AND r.last_seq >= NEW.seq
      AND EXISTS (SELECT 1 FROM ledger_grant AS g WHERE g.cuid = r.cuid AND g.environment = r.environment
        AND g.service = r.service AND g.req_id = r.req_id AND g.plan = r.plan AND g.seq = NEW.seq);
  INSERT INTO grant_row (before, cuid, environment, service, req_id, plan, seq, kind, at, code, name, add_on, start_at,
    months, days, seconds, on_top_months, on_top_days, checkout_id, granted_end_at, goodwill_days)
  VALUES (
    (SELECT CASE WHEN r.last_seq < NEW.seq THEN r.last_grant ELSE (
        SELECT g.id FROM ledger_grant AS g WHERE g.cuid = r.cuid AND g.environment = r.environment
          AND g.service = r.service AND g.req_id = r.req_id AND g.plan = r.plan AND g.seq < NEW.seq
        ORDER BY g.seq DESC LIMIT 1) END
      FROM customer_row AS r WHERE r.cuid = NEW.cuid AND r.environment = NEW.environment AND r.level = 2
        AND r.service = NEW.service AND r.req_id = NEW.req_id AND r.plan = NEW.plan),
    NEW.cuid, NEW.environment, NEW.service, NEW.req_id, NEW.plan, NEW.seq, NEW.kind, NEW.at, NEW.code, NEW.name,
    NEW.add_on, NEW.start_at, NEW.months, NEW.days, NEW.seconds, NEW.on_top_months, NEW.on_top_days, NEW.checkout_id,
    NEW.granted_end_at, NEW.goodwill_days);
  UPDATE grant_row SET before = last_insert_rowid() WHERE id = (
    SELECT g.id FROM customer_row AS r CROSS JOIN ledger_grant AS g
    WHERE r.cuid = NEW.cuid AND r.environment = NEW.environment AND r.level = 2 AND r.service = NEW.service
      AND r.req_id = NEW.req_id AND r.plan = NEW.plan AND r.last_seq > NEW.seq
      AND g.cuid = r.cuid AND g.environment = r.environment AND g.service = r.service AND g.req_id = r.req_id
      AND g.plan = r.plan AND g.seq > NEW.seq
    ORDER BY g.seq LIMIT 1);
  UPDATE customer_row SET last_grant = last_insert_rowid(), last_seq = NEW.seq
    WHERE cuid = NEW.cuid AND environment = NEW.environment AND level = 2 AND service = NEW.service
      AND req_id = NEW.req_id AND plan = NEW.plan AND coalesce(last_seq, 0) < NEW.seq;
  INSERT INTO customer_row (cuid, environment, level, service, req_id, plan, last_grant, last_seq)
  SELECT NEW.cuid, NEW.environment, 2, NEW.service, NEW.req_id, NEW.plan, last_insert_rowid(), NEW.seq
  WHERE NOT EXISTS (SELECT 1 FROM customer_row WHERE cuid = NEW.cuid AND environment = NEW.environment AND level = 2
    AND service = NEW.service AND req_id = NEW.req_id AND plan = NEW.plan);
END;

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
  status       TEXT    NOT NULL CHECK (status IN ('success', 'reversed')),
  udf1         TEXT,
  udf2         TEXT,
  -- Recorded at another topupd, and brought here: it has no grant.
  imported     INTEGER NOT NULL DEFAULT 0 CHECK (imported IN (0, 1))
) STRICT, WITHOUT ROWID;

-- A txnId begins with its time, so this index grows at its end too. A list by day, a page of it and a txnId are
-- all found by it.
CREATE INDEX top_up_by_txn_id ON top_up (txn_id);

-- Those of a customer that no grant leads to. Nothing that is recorded here is in it.
CREATE INDEX top_up_imported ON top_up (cuid, environment, checkout_id) WHERE imported = 1;

-- What was taken back, on the day on which it was: the top-up's own row says only that it is reversed.
CREATE TABLE reversal (
  checkout_id  TEXT    PRIMARY KEY,
  txn_id       TEXT    NOT NULL,
  partner_id   INTEGER NOT NULL,
  environment  TEXT    NOT NULL CHECK (environment IN ('trial', 'production')),
  service      TEXT    NOT NULL,
  bouquet_code TEXT    NOT NULL,
  amount       INTEGER NOT NULL CHECK (amount > 0),
  at           INTEGER NOT NULL,
  author       TEXT    NOT NULL,
  reason       TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX reversal_by_time ON reversal (at);

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
  hash    TEXT    NOT NULL,
  reason  TEXT,
  before  TEXT,
  after   TEXT
) STRICT;

-- What is on record stays as it was recorded: neither UPDATE nor DELETE changes it, whoever asks. Only what is from
-- before the horizon of retention may go.
CREATE TRIGGER catalogue_revision_stays BEFORE UPDATE ON catalogue_revision
  BEGIN SELECT RAISE(ABORT, 'a catalogue revision is never changed'); END;
CREATE TRIGGER catalogue_revision_remains BEFORE DELETE ON catalogue_revision
  BEGIN SELECT RAISE(ABORT, 'a catalogue revision is never deleted'); END;
CREATE TRIGGER bouquet_stays BEFORE UPDATE ON bouquet
  BEGIN SELECT RAISE(ABORT, 'a catalogue revision is never changed'); END;
CREATE TRIGGER bouquet_remains BEFORE DELETE ON bouquet
  BEGIN SELECT RAISE(ABORT, 'a catalogue revision is never changed'); END;
CREATE TRIGGER catalogue_revision_is_not_replaced BEFORE INSERT ON catalogue_revision
  WHEN EXISTS (SELECT 1 FROM catalogue_revision WHERE revision = NEW.revision)
  BEGIN SELECT RAISE(ABORT, 'a catalogue revision is never changed'); END;
CREATE TRIGGER bouquet_is_not_replaced BEFORE INSERT ON bouquet
  WHEN EXISTS (SELECT 1 FROM bouquet WHERE revision = NEW.revision AND position = NEW.position)
    OR EXISTS (SELECT 1 FROM bouquet WHERE revision = NEW.revision AND service = NEW.service AND code = NEW.code)
  BEGIN SELECT RAISE(ABORT, 'a catalogue revision is never changed'); END;
-- Of a grant, only to which other it leads may change: to none, where that one was let go, and to one that came later and
-- belongs between the two.
CREATE TRIGGER grant_stays BEFORE UPDATE ON grant_row
  WHEN (NEW.id, NEW.cuid, NEW.environment, NEW.service, NEW.req_id, NEW.plan, NEW.seq, NEW.kind, NEW.at, NEW.code,
      NEW.name, NEW.add_on, NEW.start_at, NEW.months, NEW.days, NEW.seconds, NEW.on_top_months, NEW.on_top_days,
      NEW.checkout_id, NEW.granted_end_at, NEW.goodwill_days)
    IS NOT (OLD.id, OLD.cuid, OLD.environment, OLD.service, OLD.req_id, OLD.plan, OLD.seq, OLD.kind, OLD.at, OLD.code,
      OLD.name, OLD.add_on, OLD.start_at, OLD.months, OLD.days, OLD.seconds, OLD.on_top_months, OLD.on_top_days,
      OLD.checkout_id, OLD.granted_end_at, OLD.goodwill_days)
    OR CASE WHEN NEW.before IS NULL THEN EXISTS (SELECT 1 FROM grant_row WHERE id = OLD.before)
      ELSE NOT EXISTS (SELECT 1 FROM grant_row AS g WHERE g.id = NEW.before AND g.before IS OLD.before AND g.seq < OLD.seq
        AND (g.cuid, g.environment, g.service, g.req_id, g.plan) = (OLD.cuid, OLD.environment, OLD.service, OLD.req_id, OLD.plan)) END
  BEGIN SELECT RAISE(ABORT, 'a grant is never changed'); END;
CREATE TRIGGER grant_remains BEFORE DELETE ON grant_row
  WHEN NOT EXISTS (SELECT 1 FROM retention WHERE OLD.at < pruned_before)
    OR EXISTS (SELECT 1 FROM customer_row WHERE cuid = OLD.cuid AND environment = OLD.environment AND level = 2
      AND service = OLD.service AND req_id = OLD.req_id AND plan = OLD.plan AND last_grant = OLD.id)
  BEGIN SELECT RAISE(ABORT, 'a grant is never deleted'); END;
CREATE TRIGGER grant_is_not_replaced BEFORE INSERT ON grant_row WHEN EXISTS (SELECT 1 FROM grant_row WHERE id = NEW.id)
  BEGIN SELECT RAISE(ABORT, 'a grant is never changed'); END;
-- A ledger comes to end with a later grant of its own, and with nothing else.
CREATE TRIGGER ledger_is_not_moved BEFORE UPDATE OF cuid, environment, level, service, req_id, plan ON customer_row
  WHEN OLD.level = 2 OR NEW.level = 2
  BEGIN SELECT RAISE(ABORT, 'a ledger is never shortened'); END;
CREATE TRIGGER ledger_stays BEFORE UPDATE OF last_grant, last_seq ON customer_row
  WHEN (NEW.last_grant, NEW.last_seq) IS NOT (OLD.last_grant, OLD.last_seq)
    AND (NEW.last_seq IS NULL OR NEW.last_seq <= coalesce(OLD.last_seq, 0)
      OR NOT EXISTS (SELECT 1 FROM grant_row AS g WHERE g.id = NEW.last_grant AND g.seq = NEW.last_seq
        AND g.before IS OLD.last_grant AND (g.cuid, g.environment, g.service, g.req_id, g.plan)
          = (NEW.cuid, NEW.environment, NEW.service, NEW.req_id, NEW.plan)))
  BEGIN SELECT RAISE(ABORT, 'a ledger is never shortened'); END;
CREATE TRIGGER ledger_is_not_replaced BEFORE INSERT ON customer_row
  WHEN NEW.level = 2 AND (EXISTS (SELECT 1 FROM customer_row AS r WHERE r.cuid = NEW.cuid
        AND r.environment = NEW.environment AND r.level = 2 AND r.service = NEW.service AND r.req_id = NEW.req_id
        AND r.plan = NEW.plan AND r.last_seq >= coalesce(NEW.last_seq, 0))
    OR NEW.last_grant IS NOT NULL AND NOT EXISTS (SELECT 1 FROM grant_row AS g WHERE g.id = NEW.last_grant
      AND g.seq = NEW.last_seq AND (g.cuid, g.environment, g.service, g.req_id, g.plan) = (NEW.cuid, NEW.environment, NEW.service, NEW.req_id, NEW.plan)))
  BEGIN SELECT RAISE(ABORT, 'a ledger is never shortened'); END;
CREATE TRIGGER ledger_remains BEFORE DELETE ON customer_row WHEN OLD.last_grant IS NOT NULL
  BEGIN SELECT RAISE(ABORT, 'a ledger is never deleted'); END;
CREATE TRIGGER top_up_stays BEFORE UPDATE OF checkout_id, txn_id, partner_id, environment, cuid,
    service, req_id, bouquet_code, amount, at, udf1, udf2, imported ON top_up
  BEGIN SELECT RAISE(ABORT, 'a top-up is never changed'); END;
CREATE TRIGGER top_up_is_not_replaced BEFORE INSERT ON top_up
  WHEN EXISTS (SELECT 1 FROM top_up WHERE checkout_id = NEW.checkout_id)
  BEGIN SELECT RAISE(ABORT, 'a top-up is never changed'); END;
-- When that was told last may be later than it was written down.
CREATE TRIGGER retired_checkout_stays BEFORE UPDATE ON retired_checkout
  WHEN NEW.checkout_id IS NOT OLD.checkout_id OR NEW.at < OLD.at
  BEGIN SELECT RAISE(ABORT, 'a checkout is retired for good'); END;
CREATE TRIGGER retired_checkout_remains BEFORE DELETE ON retired_checkout
  WHEN NOT EXISTS (SELECT 1 FROM retention WHERE OLD.at < pruned_before)
  BEGIN SELECT RAISE(ABORT, 'a checkout is retired for good'); END;
CREATE TRIGGER top_up_remains BEFORE DELETE ON top_up
  WHEN NOT EXISTS (SELECT 1 FROM retention WHERE OLD.at < pruned_before)
  BEGIN SELECT RAISE(ABORT, 'a top-up is never deleted'); END;
CREATE TRIGGER top_up_stays_reversed BEFORE UPDATE OF status ON top_up WHEN OLD.status = 'reversed'
  BEGIN SELECT RAISE(ABORT, 'a reversal is never taken back'); END;
CREATE TRIGGER reversal_stays BEFORE UPDATE ON reversal
  BEGIN SELECT RAISE(ABORT, 'a reversal is never changed'); END;
CREATE TRIGGER reversal_is_not_replaced BEFORE INSERT ON reversal
  WHEN EXISTS (SELECT 1 FROM reversal WHERE checkout_id = NEW.checkout_id)
  BEGIN SELECT RAISE(ABORT, 'a reversal is never changed'); END;
CREATE TRIGGER reversal_remains BEFORE DELETE ON reversal
  WHEN NOT EXISTS (SELECT 1 FROM retention WHERE OLD.at < pruned_before)
  BEGIN SELECT RAISE(ABORT, 'a reversal is never deleted'); END;
CREATE TRIGGER retention_is_not_replaced BEFORE INSERT ON retention
  WHEN EXISTS (SELECT 1 FROM retention)
  BEGIN SELECT RAISE(ABORT, 'what was let go does not come back'); END;
CREATE TRIGGER retention_never_moves_back BEFORE UPDATE ON retention
  WHEN NEW.pruned_before < OLD.pruned_before
  BEGIN SELECT RAISE(ABORT, 'what was let go does not come back'); END;
CREATE TRIGGER retention_remains BEFORE DELETE ON retention
  BEGIN SELECT RAISE(ABORT, 'what was let go does not come back'); END;
CREATE TRIGGER audit_entry_stays BEFORE UPDATE ON audit_entry
  BEGIN SELECT RAISE(ABORT, 'the audit trail is never changed'); END;
CREATE TRIGGER audit_entry_is_not_replaced BEFORE INSERT ON audit_entry
  WHEN EXISTS (SELECT 1 FROM audit_entry WHERE seq = NEW.seq)
  BEGIN SELECT RAISE(ABORT, 'the audit trail is never changed'); END;
CREATE TRIGGER audit_entry_remains BEFORE DELETE ON audit_entry
  BEGIN SELECT RAISE(ABORT, 'the audit trail is never shortened'); END;
