-- Times are milliseconds since 1970-01-01 UTC; amounts are minor units of the provider's currency. Texts are
-- compared byte by byte, whatever the language of the server.
--
-- Tables that grow lead their keys with customer_digest: the first 32 bits of the SHA-256 of the environment,
-- a colon and the cuid, which every checkoutId carries too. By it, each customer's rows lie in one place of a
-- database that is spread over several machines. customer_code leads with the code, by which alone it is asked.

CREATE TABLE provider (
  only_row          boolean PRIMARY KEY CHECK (only_row),
  time_zone         text    NOT NULL,
  currency_exponent integer NOT NULL,
  -- ISO 3166; null where mobile numbers are compared as they are written.
  default_country   text
);

-- By what rules of the zone times were counted and written, from when on. They come with Node.js, and change with it.
CREATE TABLE zone_rules (
  since     bigint PRIMARY KEY,
  time_zone text   NOT NULL,
  -- From when on the wall clock is how far ahead of UTC, in milliseconds: [[from, offset], ...]
  rules     text   NOT NULL
);

CREATE TABLE checkout_secret (
  id         integer PRIMARY KEY CHECK (id BETWEEN 0 AND 15),
  key        bytea   NOT NULL,
  created_at bigint  NOT NULL
);

-- What is from before it may have been let go by topupd prune. No row: nothing ever was.
CREATE TABLE retention (
  only_row      boolean PRIMARY KEY CHECK (only_row),
  pruned_before bigint  NOT NULL
);

CREATE TABLE partner (
  id         integer PRIMARY KEY,
  name       text COLLATE "C" NOT NULL UNIQUE,
  status     text    NOT NULL CHECK (status IN ('active', 'suspended')),
  created_at bigint  NOT NULL,
  -- From where requests may come, as CIDR ranges; null where they may from anywhere.
  allowed_addresses jsonb CHECK (jsonb_typeof(allowed_addresses) = 'array')
);

CREATE TABLE access_token (
  hash        bytea   PRIMARY KEY,
  id          text COLLATE "C" NOT NULL UNIQUE,
  partner_id  integer NOT NULL REFERENCES partner,
  environment text    NOT NULL CHECK (environment IN ('trial', 'production')),
  created_at  bigint  NOT NULL,
  expires_at  bigint,
  revoked_at  bigint,
  -- The id of the token that was issued to take its place.
  replaced_by text COLLATE "C"
);

-- Apart from access_token, since it is written all the time, and no process needs to know.
CREATE TABLE access_token_use (
  token_id     text COLLATE "C" PRIMARY KEY REFERENCES access_token (id),
  last_used_at bigint NOT NULL
);

CREATE TABLE catalogue_revision (
  revision    integer PRIMARY KEY,
  environment text    NOT NULL CHECK (environment IN ('trial', 'production')),
  created_at  bigint  NOT NULL
);

CREATE INDEX catalogue_revision_by_environment ON catalogue_revision (environment, revision);

CREATE TABLE bouquet (
  revision integer NOT NULL REFERENCES catalogue_revision,
  position integer NOT NULL,
  service  text    NOT NULL CHECK (service IN ('tv', 'internet', 'iptv')),
  code     text COLLATE "C" NOT NULL,
  name     text    NOT NULL,
  price    bigint  NOT NULL CHECK (price > 0),
  segments jsonb   NOT NULL CHECK (jsonb_typeof(segments) = 'array'),
  plan     text    NOT NULL,
  add_on   boolean NOT NULL,
  months   integer NOT NULL CHECK (months >= 0),
  days     integer NOT NULL CHECK (days >= 0),
  PRIMARY KEY (revision, position),
  -- In this order, it leads from each code to the next one, and to the code's newest revision.
  UNIQUE (service, code, revision)
);

CREATE TABLE customer (
  customer_digest bigint NOT NULL,
  environment     text   NOT NULL CHECK (environment IN ('trial', 'production')),
  cuid            text COLLATE "C" NOT NULL,
  first_name      text   NOT NULL,
  last_name       text   NOT NULL,
  mobile          text,
  status          text   NOT NULL CHECK (status IN ('active', 'inactive')),
  -- The one form of the mobile number, where it is one and the provider has a country.
  mobile_e164 text,
  PRIMARY KEY (customer_digest, environment, cuid)
);

-- Whatever a customer can be looked up by: mobile number, cuid, set-top box or username.
CREATE TABLE customer_code (
  code        text COLLATE "C" NOT NULL,
  environment text NOT NULL,
  cuid        text COLLATE "C" NOT NULL,
  PRIMARY KEY (code, environment, cuid)
);

CREATE TABLE connection (
  customer_digest bigint  NOT NULL,
  environment     text    NOT NULL,
  cuid            text COLLATE "C" NOT NULL,
  service         text    NOT NULL CHECK (service IN ('tv', 'internet', 'iptv')),
  req_id          text COLLATE "C" NOT NULL,
  position        integer NOT NULL,
  status          text    NOT NULL CHECK (status IN ('active', 'inactive', 'blocked')),
  topped_up       boolean NOT NULL,
  segment         text,
  -- By staff, whatever the provider's records say.
  blocked         boolean NOT NULL,
  PRIMARY KEY (customer_digest, environment, cuid, service, req_id)
);

-- The ledger: appended to, never changed. subscription is what it folds to.
CREATE TABLE subscription_grant (
  customer_digest bigint  NOT NULL,
  environment     text    NOT NULL,
  cuid            text COLLATE "C" NOT NULL,
  service         text    NOT NULL,
  req_id          text COLLATE "C" NOT NULL,
  plan            text COLLATE "C" NOT NULL,
  seq             integer NOT NULL CHECK (seq > 0),
  kind            text    NOT NULL CHECK (kind IN ('top_up', 'goodwill', 'statement', 'withdrawal', 'reversal')),
  at              bigint  NOT NULL,
  code            text,
  name            text,
  add_on          boolean,
  start_at        bigint  CHECK ((start_at IS NULL) = (kind <> 'statement')),
  months          integer,
  days            integer,
  seconds         bigint,
  on_top_months   integer CHECK ((on_top_months IS NULL) = (kind <> 'statement')),
  on_top_days     integer CHECK ((on_top_days IS NULL) = (kind <> 'statement')),
  -- Of the top-up that made the grant, or that the reversal takes back.
  checkout_id     text COLLATE "C" CHECK ((checkout_id IS NULL) = (kind NOT IN ('top_up', 'reversal'))),
  -- Of a statement that carries a run over from another topupd.
  granted_end_at  bigint  CHECK (granted_end_at IS NULL OR kind = 'statement'),
  -- The same: how many of the days on top were given for nothing there.
  goodwill_days   integer CHECK ((goodwill_days IS NULL) = (granted_end_at IS NULL)),
  PRIMARY KEY (customer_digest, environment, cuid, service, req_id, plan, seq)
);

CREATE TABLE subscription (
  customer_digest  bigint  NOT NULL,
  environment      text    NOT NULL,
  cuid             text COLLATE "C" NOT NULL,
  service          text    NOT NULL,
  req_id           text COLLATE "C" NOT NULL,
  plan             text COLLATE "C" NOT NULL,
  code             text    NOT NULL,
  name             text    NOT NULL,
  add_on           boolean NOT NULL,
  start_at         bigint  NOT NULL,
  end_at           bigint  NOT NULL,
  months           integer NOT NULL,
  days             integer NOT NULL,
  seconds          bigint  NOT NULL,
  topped_up_months integer NOT NULL,
  topped_up_days   integer NOT NULL,
  -- Of these days: how many were given for nothing.
  goodwill_days    integer NOT NULL,
  granted_end_at   bigint,
  PRIMARY KEY (customer_digest, environment, cuid, service, req_id, plan)
);

-- A checkoutId belongs to one customer, so the key keeps it from being recorded twice.
CREATE TABLE top_up (
  customer_digest bigint  NOT NULL,
  checkout_id     text COLLATE "C" NOT NULL,
  txn_id          text COLLATE "C" NOT NULL,
  partner_id      integer NOT NULL,
  environment     text    NOT NULL CHECK (environment IN ('trial', 'production')),
  cuid            text COLLATE "C" NOT NULL,
  service         text    NOT NULL,
  req_id          text COLLATE "C" NOT NULL,
  bouquet_code    text    NOT NULL,
  amount          bigint  NOT NULL CHECK (amount > 0),
  at              bigint  NOT NULL,
  status          text    NOT NULL CHECK (status IN ('success', 'reversed')),
  udf1            text,
  udf2            text,
  -- Recorded at another topupd, and brought here: it has no grant.
  imported        boolean NOT NULL DEFAULT false,
  PRIMARY KEY (customer_digest, checkout_id)
);

-- A txnId begins with its time, so this index grows at its end. A list by day, a page of it and a txnId are all
-- found by it; nothing that a partner asks is.
CREATE INDEX top_up_by_txn_id ON top_up (txn_id);

-- Nothing that is recorded here is in it.
CREATE INDEX top_up_imported ON top_up (customer_digest, checkout_id) WHERE imported;

-- What was taken back, on the day on which it was: the top-up's own row says only that it is reversed.
CREATE TABLE reversal (
  customer_digest bigint  NOT NULL,
  checkout_id     text COLLATE "C" NOT NULL,
  txn_id          text COLLATE "C" NOT NULL,
  partner_id      integer NOT NULL,
  environment     text    NOT NULL CHECK (environment IN ('trial', 'production')),
  service         text    NOT NULL,
  bouquet_code    text    NOT NULL,
  amount          bigint  NOT NULL CHECK (amount > 0),
  at              bigint  NOT NULL,
  author          text    NOT NULL,
  reason          text    NOT NULL,
  PRIMARY KEY (customer_digest, checkout_id)
);

CREATE INDEX reversal_by_time ON reversal (at);

-- Checkouts with which nothing can be recorded any more, because a partner was told so.
CREATE TABLE retired_checkout (
  customer_digest bigint NOT NULL,
  checkout_id     text COLLATE "C" NOT NULL,
  at              bigint NOT NULL,
  PRIMARY KEY (customer_digest, checkout_id)
);

-- Every change by staff or an import. The hash of each covers the one before it.
CREATE TABLE audit_entry (
  seq     integer PRIMARY KEY,
  at      bigint  NOT NULL,
  author  text    NOT NULL,
  action  text    NOT NULL,
  subject text    NOT NULL,
  hash    text    NOT NULL,
  reason  text,
  before  text,
  after   text
);

-- What is on record stays as it was recorded: neither UPDATE, DELETE nor TRUNCATE changes it, whoever asks. Only what
-- is from before the horizon of retention may go, row by row.
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

CREATE TRIGGER catalogue_revision_stays BEFORE UPDATE OR DELETE ON catalogue_revision
  FOR EACH ROW EXECUTE FUNCTION refuse_change('a catalogue revision is never changed');
CREATE TRIGGER bouquet_stays BEFORE UPDATE OR DELETE ON bouquet
  FOR EACH ROW EXECUTE FUNCTION refuse_change('a catalogue revision is never changed');
CREATE TRIGGER subscription_grant_stays BEFORE UPDATE ON subscription_grant
  FOR EACH ROW EXECUTE FUNCTION refuse_change('a grant is never changed');
CREATE TRIGGER subscription_grant_remains BEFORE DELETE ON subscription_grant
  FOR EACH ROW EXECUTE FUNCTION refuse_unless_let_go('a grant is never deleted');
CREATE TRIGGER top_up_stays BEFORE UPDATE OF customer_digest, checkout_id, txn_id, partner_id, environment, cuid,
    service, req_id, bouquet_code, amount, at, udf1, udf2, imported ON top_up
  FOR EACH ROW EXECUTE FUNCTION refuse_change('a top-up is never changed');
CREATE TRIGGER top_up_remains BEFORE DELETE ON top_up
  FOR EACH ROW EXECUTE FUNCTION refuse_unless_let_go('a top-up is never deleted');
-- When that was told last may be later than it was written down.
CREATE TRIGGER retired_checkout_stays BEFORE UPDATE ON retired_checkout
  FOR EACH ROW WHEN ((NEW.customer_digest, NEW.checkout_id) <> (OLD.customer_digest, OLD.checkout_id) OR NEW.at < OLD.at)
  EXECUTE FUNCTION refuse_change('a checkout is retired for good');
CREATE TRIGGER retired_checkout_remains BEFORE DELETE ON retired_checkout
  FOR EACH ROW EXECUTE FUNCTION refuse_unless_let_go('a checkout is retired for good');

CREATE TRIGGER top_up_stays_reversed BEFORE UPDATE OF status ON top_up
  FOR EACH ROW WHEN (OLD.status = 'reversed') EXECUTE FUNCTION refuse_change('a reversal is never taken back');
CREATE TRIGGER reversal_stays BEFORE UPDATE ON reversal
  FOR EACH ROW EXECUTE FUNCTION refuse_change('a reversal is never changed');
CREATE TRIGGER reversal_remains BEFORE DELETE ON reversal
  FOR EACH ROW EXECUTE FUNCTION refuse_unless_let_go('a reversal is never deleted');
CREATE TRIGGER retention_never_moves_back BEFORE UPDATE ON retention
  FOR EACH ROW WHEN (NEW.pruned_before < OLD.pruned_before)
  EXECUTE FUNCTION refuse_change('what was let go does not come back');
CREATE TRIGGER retention_remains BEFORE DELETE ON retention
  FOR EACH ROW EXECUTE FUNCTION refuse_change('what was let go does not come back');
CREATE TRIGGER audit_entry_stays BEFORE UPDATE OR DELETE ON audit_entry
  FOR EACH ROW EXECUTE FUNCTION refuse_change('the audit trail is never changed');

CREATE TRIGGER catalogue_revision_is_not_emptied BEFORE TRUNCATE ON catalogue_revision
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('a catalogue revision is never changed');
CREATE TRIGGER bouquet_is_not_emptied BEFORE TRUNCATE ON bouquet
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('a catalogue revision is never changed');
CREATE TRIGGER subscription_grant_is_not_emptied BEFORE TRUNCATE ON subscription_grant
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('a grant is never changed');
CREATE TRIGGER top_up_is_not_emptied BEFORE TRUNCATE ON top_up
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('a top-up is never deleted');
CREATE TRIGGER retired_checkout_is_not_emptied BEFORE TRUNCATE ON retired_checkout
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('a checkout is retired for good');
CREATE TRIGGER reversal_is_not_emptied BEFORE TRUNCATE ON reversal
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('a reversal is never deleted');
CREATE TRIGGER retention_is_not_emptied BEFORE TRUNCATE ON retention
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('what was let go does not come back');
CREATE TRIGGER audit_entry_is_not_emptied BEFORE TRUNCATE ON audit_entry
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('the audit trail is never shortened');

-- What every process keeps in memory: whoever changes it, and be it by hand, tells them all.
CREATE TABLE reference_version (
  only_row boolean PRIMARY KEY CHECK (only_row),
  version  bigint  NOT NULL
);

INSERT INTO reference_version (only_row, version) VALUES (true, 0);

CREATE FUNCTION announce_reference_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE reference_version SET version = version + 1;
  PERFORM pg_notify('topupd_reference', '');
  RETURN NULL;
END $$;

CREATE TRIGGER checkout_secret_change AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON checkout_secret
  FOR EACH STATEMENT EXECUTE FUNCTION announce_reference_change();
CREATE TRIGGER partner_change AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON partner
  FOR EACH STATEMENT EXECUTE FUNCTION announce_reference_change();
CREATE TRIGGER access_token_change AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON access_token
  FOR EACH STATEMENT EXECUTE FUNCTION announce_reference_change();
CREATE TRIGGER catalogue_revision_change AFTER INSERT ON catalogue_revision
  FOR EACH STATEMENT EXECUTE FUNCTION announce_reference_change();
