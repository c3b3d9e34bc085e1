-- Both engines use this file: see ../migrations.ts.
-- Instants are milliseconds since 1970-01-01 UTC. Wall times are texts in the provider's zone, YYYY-MM-DD HH:MM:SS.
-- Amounts are minor units of the provider's currency. Flags are 0 or 1.

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
  -- ISO 3166; null means that mobile numbers are compared as they are written.
  default_country   TEXT
) STRICT;

CREATE TABLE checkout_secret (
  id         INTEGER PRIMARY KEY CHECK (id BETWEEN 0 AND 15),
  key        BLOB    NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- History before this time may have been deleted by topupd prune. No row: nothing was ever deleted.
CREATE TABLE retention (
  only_row      INTEGER PRIMARY KEY DEFAULT 1 CHECK (only_row = 1),
  pruned_before INTEGER NOT NULL
) STRICT;

CREATE TABLE partner (
  id         INTEGER PRIMARY KEY,
  name       TEXT    NOT NULL UNIQUE,
  status     TEXT    NOT NULL CHECK (status IN ('active', 'suspended')),
  created_at INTEGER NOT NULL,
  -- A JSON list of CIDR ranges that may send requests; null means any address.
  allowed_addresses TEXT,
  -- The first practice report without a complaint.
  certified_at INTEGER,
  -- What it certified, as JSON: versions, and the checkoutId of each fault.
  certificate TEXT,
  -- A JSON object of limits; null means the defaults.
  limits     TEXT,
  -- A JSON list of CommissionRule in domain/account.ts; null means no commission.
  commission TEXT,
  -- A JSON object of LegalLines in domain/access-token.ts; null means none.
  legal      TEXT
) STRICT;

CREATE TABLE access_token (
  hash        BLOB    PRIMARY KEY,
  id          TEXT    NOT NULL UNIQUE,
  partner_id  INTEGER NOT NULL REFERENCES partner,
  environment TEXT    NOT NULL CHECK (environment IN ('trial', 'production')),
  created_at  INTEGER NOT NULL,
  expires_at  INTEGER,
  revoked_at  INTEGER,
  -- The id of the token that replaced it.
  replaced_by TEXT
) STRICT, WITHOUT ROWID;

-- Last uses are kept apart from access_token, because they are written often.
CREATE TABLE access_token_use (
  token_id     TEXT    PRIMARY KEY REFERENCES access_token (id),
  last_used_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE catalogue_revision (
  revision    INTEGER PRIMARY KEY,
  environment TEXT    NOT NULL CHECK (environment IN ('trial', 'production')),
  created_at  INTEGER NOT NULL,
  -- Equals created_at if the change has no date; NULL if it was withdrawn.
  in_force_at INTEGER
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
  -- The mobile number in E.164 form, if it is a valid number and the provider has a country.
  mobile_e164 TEXT,
  status      TEXT NOT NULL CHECK (status IN ('active', 'inactive')),
  area        TEXT,
  -- The customer's last imported row contains the top-ups and goodwill made here up to this time.
  as_of       INTEGER,
  PRIMARY KEY (cuid, environment)
) STRICT, WITHOUT ROWID;

CREATE INDEX customer_by_area ON customer (environment, area, cuid) WHERE area IS NOT NULL;

-- Codes that find a customer: mobile number, cuid, set-top box or username.
CREATE TABLE customer_code (
  code        TEXT NOT NULL,
  environment TEXT NOT NULL,
  cuid        TEXT NOT NULL,
  PRIMARY KEY (code, environment, cuid)
) STRICT, WITHOUT ROWID;

-- Texts by which staff find a customer: see domain/customer-search.ts.
CREATE TABLE customer_term (
  environment TEXT NOT NULL,
  term        TEXT NOT NULL,
  cuid        TEXT NOT NULL,
  PRIMARY KEY (environment, term, cuid)
) STRICT, WITHOUT ROWID;

CREATE TABLE connection (
  cuid        TEXT    NOT NULL,
  environment TEXT    NOT NULL,
  service     TEXT    NOT NULL CHECK (service IN ('tv', 'internet', 'iptv')),
  req_id      TEXT    NOT NULL,
  -- req_id without case and accents: see domain/names.ts.
  name_key    TEXT    NOT NULL,
  position    INTEGER NOT NULL,
  -- Status in the last import.
  status      TEXT    NOT NULL CHECK (status IN ('active', 'inactive', 'blocked')),
  -- Block by staff. It stays, whatever the provider's records say.
  blocked     INTEGER NOT NULL CHECK (blocked IN (0, 1)),
  segment     TEXT,
  PRIMARY KEY (cuid, environment, service, req_id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX connection_by_name ON connection (name_key, environment, service);
CREATE INDEX connection_by_segment ON connection (environment, segment, cuid, service, req_id) WHERE segment IS NOT NULL;

-- Connections that were removed from a customer: the customer's ledgers still have their top-ups.
CREATE TABLE former_connection (
  environment TEXT NOT NULL,
  req_id      TEXT NOT NULL,
  cuid        TEXT NOT NULL,
  PRIMARY KEY (environment, req_id, cuid)
) STRICT, WITHOUT ROWID;

-- One row for each ledger: the state after its last entry. Without a subscription, code is null.
CREATE TABLE subscription (
  cuid        TEXT    NOT NULL,
  environment TEXT    NOT NULL,
  service     TEXT    NOT NULL,
  req_id      TEXT    NOT NULL,
  plan        TEXT    NOT NULL,
  -- Number of the last entry.
  seq         INTEGER NOT NULL,
--- sqlite
  -- Row id of the last entry.
  last_entry  INTEGER NOT NULL,
--- both
  code        TEXT,
  name        TEXT,
  add_on      INTEGER,
  start_time  TEXT,
  anchor_time TEXT,
  months      INTEGER,
  days        INTEGER,
  -- 1 if end_time is a second before anchor_time plus months and days.
  inclusive   INTEGER,
  end_time    TEXT,
  since       INTEGER,
  -- Days of goodwill contained in end_time.
  goodwill_days INTEGER,
  PRIMARY KEY (cuid, environment, service, req_id, plan)
) STRICT, WITHOUT ROWID;

--- postgres
-- Each top-up updates a row. Free room in its page saves the update of the index.
ALTER TABLE subscription SET (fillfactor = 60);

--- both
-- The ledgers: appended to, never changed.
CREATE TABLE ledger_entry (
--- sqlite
  -- Ids grow with time. Each entry points to the previous entry of its ledger: an index by customer, whose changes scatter
  -- over the file, is not needed.
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
  -- The bouquet that was bought, given as goodwill, or stated by the import.
  code         TEXT,
  name         TEXT,
  add_on       INTEGER,
  months       INTEGER,
  days         INTEGER,
  -- Only top-ups.
  txn_id       TEXT CHECK ((txn_id IS NULL) = (kind <> 'top_up')),
  -- Only reversals: the seq of the reversed entry.
  reverses     INTEGER CHECK ((reverses IS NULL) = (kind <> 'reversal')),
  -- Only goodwill and reversals.
  author       TEXT,
  reason       TEXT,
  -- Only imports.
  as_of        INTEGER CHECK ((as_of IS NULL) = (kind <> 'import')),
  as_of_wall   TEXT,
  -- Whether the provider's records contain the goodwill.
  goodwill     TEXT CHECK ((goodwill IS NULL) = (kind <> 'import') AND goodwill IN ('held', 'lacking')),
  stated_start TEXT,
  stated_end   TEXT,
  unit         TEXT CHECK (unit IN ('month', 'day')),
  run_since    INTEGER,
  -- The subscription after this entry; null if there is none.
  after_code   TEXT,
  after_name   TEXT,
  after_add_on INTEGER,
  after_start  TEXT,
  after_anchor TEXT,
  after_months INTEGER,
  after_days   INTEGER,
  after_inclusive INTEGER,
  after_end    TEXT,
  after_since  INTEGER,
  after_goodwill_days INTEGER
) STRICT;

-- A checkoutId begins with its time of issue, so that the table grows at its end.
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
  -- The part of the amount that the partner keeps.
  commission   INTEGER NOT NULL CHECK (commission BETWEEN 0 AND amount),
  at           INTEGER NOT NULL,
  txn_date     TEXT    NOT NULL,
  status       TEXT    NOT NULL CHECK (status IN ('success', 'reversed')),
  udf1         TEXT,
  udf2         TEXT
) STRICT, WITHOUT ROWID;

-- A txnId begins with its time, so that this index grows at its end too.
CREATE UNIQUE INDEX top_up_by_txn_id ON top_up (txn_id);
CREATE INDEX top_up_by_partner ON top_up (partner_id, environment, txn_id);
CREATE INDEX top_up_by_udf1 ON top_up (udf1, partner_id, environment, txn_id) WHERE udf1 IS NOT NULL;

-- Time, author and reason of a reversed top-up. The top-up's own row contains only its status.
CREATE TABLE reversal (
  txn_id      TEXT    PRIMARY KEY,
  -- Of the top-up.
  partner_id  INTEGER NOT NULL,
  environment TEXT    NOT NULL,
  at          INTEGER NOT NULL,
  wall        TEXT    NOT NULL,
  author      TEXT    NOT NULL,
  reason      TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX reversal_by_wall ON reversal (wall);
CREATE INDEX reversal_by_partner ON reversal (partner_id, environment, at, txn_id);

-- Author, time and reason of a connection's last block: valid while connection.blocked is 1.
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

-- Notes by staff.
CREATE TABLE customer_note (
  cuid        TEXT    NOT NULL,
  environment TEXT    NOT NULL,
  -- Number among the customer's notes, from 1.
  seq         INTEGER NOT NULL,
  at          INTEGER NOT NULL,
  wall        TEXT    NOT NULL,
  author      TEXT    NOT NULL,
  note        TEXT    NOT NULL,
  PRIMARY KEY (cuid, environment, seq)
) STRICT, WITHOUT ROWID;

-- Checkouts that can record nothing any more, because a partner got this answer.
CREATE TABLE retired_checkout (
  checkout_id TEXT    PRIMARY KEY,
  at          INTEGER NOT NULL,
  -- Null unless a top-up was refused by balance or limit: every later request gets the same refusal.
  partner_id  INTEGER REFERENCES partner,
  environment TEXT    CHECK (environment IN ('trial', 'production')),
  reason      TEXT    CHECK (reason IN ('insufficient_balance', 'limit_reached')),
  -- Null unless a limit refused it.
  limit_name  TEXT,
  -- The amount of that top-up.
  amount      INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX retired_checkout_refused ON retired_checkout (at) WHERE reason IS NOT NULL;

-- Settings of a partner's account in an environment, and its stored balance.
CREATE TABLE account (
  partner_id   INTEGER NOT NULL REFERENCES partner,
  environment  TEXT    NOT NULL CHECK (environment IN ('trial', 'production')),
  -- Null: none.
  credit_limit INTEGER CHECK (credit_limit >= 0),
  -- A balance below it is an alert; null: none.
  alert_below  INTEGER,
  -- Null unless the account is guarded: it has a credit limit, or its partner a limit a day. Then each batch of top-ups
  -- updates it; otherwise the balance is summed up on request.
  balance      INTEGER CHECK (balance IS NOT NULL OR credit_limit IS NULL),
  PRIMARY KEY (partner_id, environment)
) STRICT, WITHOUT ROWID;

-- Entries that staff made in accounts. Those of top-ups and reversals follow from top_up and reversal.
CREATE TABLE account_entry (
  partner_id  INTEGER NOT NULL REFERENCES partner,
  environment TEXT    NOT NULL CHECK (environment IN ('trial', 'production')),
  reference   TEXT    NOT NULL,
  kind        TEXT    NOT NULL CHECK (kind IN ('deposit', 'withdrawal', 'adjustment')),
  -- Effect on the balance.
  amount      INTEGER NOT NULL CHECK (CASE kind WHEN 'deposit' THEN amount > 0 WHEN 'withdrawal' THEN amount < 0
    ELSE amount <> 0 END),
  reason      TEXT    NOT NULL,
  author      TEXT    NOT NULL,
  at          INTEGER NOT NULL,
  wall        TEXT    NOT NULL,
  PRIMARY KEY (partner_id, environment, reference)
) STRICT, WITHOUT ROWID;

-- Sums of top-ups by the day of their txn_date, and of reversals by their own day. A batch adds to its rows in the
-- transaction that records it. They outlive pruned history.
CREATE TABLE sales_day (
  partner_id   INTEGER NOT NULL REFERENCES partner,
  environment  TEXT    NOT NULL CHECK (environment IN ('trial', 'production')),
  day          TEXT    NOT NULL,
  service      TEXT    NOT NULL,
  bouquet_code TEXT    NOT NULL,
  -- The price of each of these top-ups and reversals, so that sums of their rounded taxes are exact.
  amount       INTEGER NOT NULL CHECK (amount > 0),
  -- The day on which the price was sold, whose taxes it contains: of top-ups the day itself, of reversals that of their
  -- top-ups. Base and taxes of a past day follow from it also when the top-ups were pruned.
  sold_on      TEXT    NOT NULL,
  -- In PostgreSQL, each session adds to rows of its own, so that batches do not wait for each other. 0 in SQLite.
  lane         INTEGER NOT NULL,
  top_ups      INTEGER NOT NULL,
  -- Of these top-ups.
  commission   INTEGER NOT NULL,
  reversals    INTEGER NOT NULL,
  -- The commission of the reversed top-ups.
  returned     INTEGER NOT NULL,
  PRIMARY KEY (partner_id, environment, day, service, bouquet_code, amount, sold_on, lane)
) STRICT, WITHOUT ROWID;

CREATE INDEX sales_day_by_day ON sales_day (environment, day);

--- postgres
-- Each batch updates a row. Free room in its page saves the update of the indexes.
ALTER TABLE sales_day SET (fillfactor = 50);

--- both
-- Taxes contained in prices. A row holds from its day until the next row of its service and name.
CREATE TABLE tax (
  service  TEXT    NOT NULL CHECK (service IN ('tv', 'internet', 'iptv')),
  name     TEXT    NOT NULL,
  from_day TEXT    NOT NULL,
  -- Millionths of the base: 143000 is 14.3 %. 0 ends the tax.
  share    INTEGER NOT NULL CHECK (share BETWEEN 0 AND 1000000),
  PRIMARY KEY (service, name, from_day)
) STRICT, WITHOUT ROWID;

-- Shifts of sellers, each with the cash that was counted at its end.
CREATE TABLE shift (
  id          INTEGER PRIMARY KEY,
  partner_id  INTEGER NOT NULL REFERENCES partner,
  environment TEXT    NOT NULL CHECK (environment IN ('trial', 'production')),
  -- The name of the person.
  seller      TEXT    NOT NULL,
  opened_at   INTEGER NOT NULL,
  -- Cash at the beginning.
  opening     INTEGER NOT NULL CHECK (opening >= 0),
  -- The others are null while the shift is open.
  closed_at   INTEGER CHECK ((closed_at IS NULL) = (counted IS NULL)),
  counted     INTEGER CHECK (counted >= 0),
  expected    INTEGER CHECK ((expected IS NULL) = (counted IS NULL)),
  -- Number of the cash sales and returns in `expected`.
  cash_rows   INTEGER CHECK ((cash_rows IS NULL) = (counted IS NULL)),
  note        TEXT
) STRICT;

CREATE UNIQUE INDEX shift_open ON shift (seller, partner_id, environment) WHERE closed_at IS NULL;

-- Top-ups that a seller made. A top-up of a partner's own program has none.
CREATE TABLE sale (
  txn_id         TEXT    PRIMARY KEY REFERENCES top_up (txn_id),
  -- Of the top-up.
  partner_id     INTEGER NOT NULL,
  environment    TEXT    NOT NULL,
  -- The name of the person.
  seller         TEXT    NOT NULL,
  method         TEXT    NOT NULL CHECK (method IN ('cash', 'card', 'wallet')),
  -- The seller's first shift that was closed after the sale; null until then.
  shift_id       INTEGER REFERENCES shift,
  -- The shift in which the cash was returned.
  returned_shift INTEGER REFERENCES shift CHECK (returned_shift IS NULL OR method = 'cash')
) STRICT, WITHOUT ROWID;

CREATE INDEX sale_by_partner ON sale (partner_id, environment, txn_id);
CREATE INDEX sale_by_seller ON sale (seller, environment, txn_id);
CREATE INDEX sale_by_shift ON sale (seller, partner_id, environment, shift_id);
CREATE INDEX sale_by_returned_shift ON sale (returned_shift) WHERE returned_shift IS NOT NULL;

-- Every change by staff or an import. The hash of an entry covers the previous entry.
CREATE TABLE audit_entry (
  seq      INTEGER PRIMARY KEY,
  at       INTEGER NOT NULL,
  author   TEXT    NOT NULL,
  -- Whether the author is an account or API key; else a user of the shell, or the issuer.
  by_staff INTEGER NOT NULL,
  action   TEXT    NOT NULL,
  subject  TEXT    NOT NULL,
  reason   TEXT,
  before   TEXT,
  after    TEXT,
  hash     TEXT    NOT NULL
) STRICT;

-- The entries of an import share its reason.
CREATE INDEX audit_entry_by_reason ON audit_entry (reason, seq);
-- Changes of staff accounts tell who is one person.
CREATE INDEX audit_entry_by_action ON audit_entry (action, seq);

-- Systems of the provider that receive events, and the webhooks of partners.
CREATE TABLE target (
  id          INTEGER PRIMARY KEY,
  name        TEXT    NOT NULL UNIQUE,
  -- The account whose facts a partner's webhook gets; null for the provider's systems.
  partner_id  INTEGER REFERENCES partner,
  environment TEXT    CHECK ((environment IS NULL) = (partner_id IS NULL)),
  -- A JSON object; its fields depend on the kind of target.
  config      TEXT    NOT NULL,
  -- A JSON list: see Target in domain/target.ts.
  secrets     TEXT    NOT NULL,
  billing     INTEGER NOT NULL CHECK (billing IN (0, 1)),
  paused      INTEGER NOT NULL CHECK (paused IN (0, 1)),
  -- Whether it is paused because it answered 410.
  gone        INTEGER NOT NULL CHECK (gone IN (0, paused)),
  created_at  INTEGER NOT NULL,
  -- Time of the last resend by staff: the delivering process then reads the failed events again.
  resent_at   INTEGER,
  -- Number of the last event that was sent to it. Failed events up to this number are in delivery.
  place      INTEGER NOT NULL,
  -- SHA-256 of the key by which a webhook's receiver confirms events; null without one.
  key_hash   BLOB
) STRICT;
CREATE UNIQUE INDEX target_by_partner ON target (partner_id, environment) WHERE partner_id IS NOT NULL;

-- Events, written while there is a target, in the transaction of their change, and numbered in the order of commits. The
-- last event is never deleted, so that no number is used twice.
CREATE TABLE event (
  seq         INTEGER PRIMARY KEY,
  kind        TEXT    NOT NULL,
  at          INTEGER NOT NULL,
  environment TEXT    NOT NULL,
  -- The connection; null for alerts.
  cuid        TEXT,
  service     TEXT,
  req_id      TEXT,
  -- Only alerts, entries, top-ups and their reversals.
  partner_id  INTEGER,
  -- A JSON object: the connection's state after the event, and the top-up; or the limit or amounts of an alert, or the entry.
  state       TEXT    NOT NULL
) STRICT;
CREATE INDEX event_by_partner ON event (partner_id, environment, seq) WHERE partner_id IS NOT NULL;

-- Events that failed at a target, and events that wait behind them.
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
-- Deleted events are searched for here.
CREATE INDEX delivery_by_seq ON delivery (seq);

-- The last event of each connection that was sent to a target, and how far it came there.
CREATE TABLE service_step (
  target_id   INTEGER NOT NULL REFERENCES target,
  environment TEXT    NOT NULL,
  service     TEXT    NOT NULL,
  req_id      TEXT    NOT NULL,
  cuid        TEXT    NOT NULL,
  seq         INTEGER NOT NULL,
  kind        TEXT    NOT NULL,
  at          INTEGER NOT NULL,
  -- Start of the first attempt. Null, as is accepted_at, while the receiver's confirmation is all that is on record.
  sent_at     INTEGER,
  accepted_at INTEGER,
  -- Time of the receiver's confirmation; null if it promised none, or it did not come yet.
  ended_at    INTEGER,
  outcome     TEXT    NOT NULL CHECK (outcome IN ('open', 'done', 'failed')),
  -- Detail of the confirmation; why the last attempt failed, while it is open.
  detail      TEXT,
  PRIMARY KEY (target_id, environment, service, req_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX service_step_open ON service_step (environment, at) WHERE outcome <> 'done';

-- What a target lacks, one row for each subject (domain/subject.ts). It is deleted when the target has it, so that the table
-- stays small. Neither this table nor told refers to target: a top-up would lock its row. No id of a target is used again.
CREATE TABLE due (
  target_id    INTEGER NOT NULL,
  subject      TEXT    NOT NULL,
  -- The customer of a connection at its last change, for a connection that is gone; null for facts.
  cuid         TEXT,
  -- Number of changes since the row began: an attempt counts for the changes that it has read.
  changes      INTEGER NOT NULL,
  -- Kind of the last change.
  kind         TEXT    NOT NULL,
  -- Time of the oldest change that is not done; null if nothing changed, and the state is only sent once more.
  since        INTEGER,
  -- open: is sent at next_at; waits: for a confirmation; failed: the receiver said so; aside: refused too often.
  state        TEXT    NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'waits', 'failed', 'aside')),
  next_at      INTEGER NOT NULL,
  -- Failures that count against the subject: see failuresAfter in domain/target.ts.
  attempts     INTEGER NOT NULL DEFAULT 0,
  -- Why the last attempt failed, or what the receiver said about the failure.
  problem      TEXT,
  -- The least version that the next attempt must exceed: that of the last attempt, written before anything is sent.
  sent         INTEGER NOT NULL DEFAULT 0,
  -- The changes that the last attempt has read.
  sent_changes INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (target_id, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX due_by_next ON due (target_id, next_at) WHERE state = 'open';
-- What is late, and the oldest change that a target lacks.
CREATE INDEX due_by_since ON due (target_id, since) WHERE since IS NOT NULL;

-- The last version of each connection on record at a target. Facts have no row here.
CREATE TABLE told (
  target_id   INTEGER NOT NULL,
  subject     TEXT    NOT NULL,
  version     INTEGER NOT NULL,
  kind        TEXT    NOT NULL,
  -- Start and end of the attempt; null while the receiver's confirmation is all that is on record.
  sent_at     INTEGER,
  accepted_at INTEGER,
  -- Time of the receiver's confirmation; null if there is none.
  ended_at    INTEGER,
  -- waits: for a confirmation; done: confirmed, or accepted by a receiver that promised none; failed: the receiver said so.
  state       TEXT    NOT NULL CHECK (state IN ('waits', 'done', 'failed')),
  -- Detail of the confirmation.
  detail      TEXT,
  -- A JSON object: the rights that RADIUS last carried out; null for other targets, and after a restore.
  rights      TEXT,
  PRIMARY KEY (target_id, subject)
) STRICT, WITHOUT ROWID;

-- The last attempts at each target, for staff. They have no names, no mobile numbers and no secrets of topupd.
CREATE TABLE delivery_log (
  -- An attempt may end after its target was removed.
  target_id   INTEGER NOT NULL,
  -- Start of the attempt.
  at          INTEGER NOT NULL,
  -- The number of the event; 0 for a test event; for partners, the attempts of the process are numbered.
  seq         INTEGER NOT NULL,
  attempt     INTEGER NOT NULL,
  -- The HTTP status; null for RADIUS, and if there was no answer.
  status      INTEGER,
  -- The beginning of the sent body, or the written rows of RADIUS; null if nothing was sent.
  request     TEXT,
  -- The beginning of the answer's body.
  answer      TEXT,
  -- Why the attempt failed; null if it did not.
  problem     TEXT,
  duration_ms INTEGER NOT NULL,
  PRIMARY KEY (target_id, at, seq)
) STRICT, WITHOUT ROWID;

-- Users of RADIUS whose sessions had to end, each with the last event that altered what the user may do.
CREATE TABLE session_due (
  target_id INTEGER NOT NULL REFERENCES target,
  username  TEXT    NOT NULL,
  seq       INTEGER NOT NULL,
  -- Time of the event.
  at        INTEGER NOT NULL,
  due_at    INTEGER NOT NULL,
  state     TEXT    NOT NULL CHECK (state IN ('due', 'ended', 'none_open', 'unknown', 'failed')),
  ended_at  INTEGER,
  -- Why sessions did not end in time.
  problem   TEXT,
  -- 8640000000000000: nothing more is done; if it is due, the rows of the user are not written yet.
  next_at   INTEGER NOT NULL,
  attempts  INTEGER NOT NULL,
  -- The sessions, as a JSON list; null until they were looked for.
  noted     TEXT,
  PRIMARY KEY (target_id, username)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_due_by_next ON session_due (target_id, next_at);

-- Problems that began, with the mails about them. Those of partners are events too.
CREATE TABLE alert (
  kind        TEXT    NOT NULL,
  -- Empty: of the whole service.
  environment TEXT    NOT NULL CHECK (environment IN ('', 'trial', 'production')),
  -- Name of the partner or target; empty if it is about neither.
  subject     TEXT    NOT NULL,
  -- The limit of limit_reached; otherwise empty.
  limit_name  TEXT    NOT NULL,
  at          INTEGER NOT NULL,
  -- The end of the provider's day, for refusals of a day; for others 8640000000000000 until they end.
  ends_at     INTEGER NOT NULL,
  -- Null until the mail server has accepted the first mail. From ends_at on, the end was mailed too.
  mailed_at   INTEGER,
  PRIMARY KEY (kind, environment, subject, limit_name, ends_at)
) STRICT, WITHOUT ROWID;

-- Tasks that only one process at a time may do.
CREATE TABLE lease (
  name       TEXT    PRIMARY KEY,
  holder     TEXT    NOT NULL,
  held_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Events for subscriptions that began or ended have been written up to this wall time.
CREATE TABLE ends_told (
  only_row   INTEGER PRIMARY KEY DEFAULT 1 CHECK (only_row = 1),
  told_until TEXT    NOT NULL
) STRICT;

-- Recent refused calls of partners. Staff look here when a customer complains.
CREATE TABLE refused_call (
  id          INTEGER PRIMARY KEY,
  at          INTEGER NOT NULL,
  partner_id  INTEGER NOT NULL,
  environment TEXT    NOT NULL,
  -- The operation in the path of the request.
  operation   TEXT    NOT NULL,
  -- The reason of the failure, as sent to the partner.
  reason      TEXT    NOT NULL,
  -- The limit that refused the call; null if none did.
  detail      TEXT,
  -- The customer id or code in the request; null if there was none.
  code        TEXT,
  request_id  TEXT    NOT NULL
) STRICT;

CREATE INDEX refused_call_by_code ON refused_call (code, id) WHERE code IS NOT NULL;
CREATE INDEX refused_call_by_detail ON refused_call (detail, at) WHERE detail IS NOT NULL;

-- Recent calls of partners in the trial environment, for the practice report. Texts are as the partner sent them.
CREATE TABLE trial_call (
  id          INTEGER PRIMARY KEY,
  -- Time of arrival, and milliseconds until the end of the answer.
  at          INTEGER NOT NULL,
  ms          INTEGER NOT NULL,
  partner_id  INTEGER NOT NULL,
  version     TEXT    NOT NULL,
  operation   TEXT    NOT NULL,
  cuid        TEXT,
  service     TEXT,
  req_id      TEXT,
  checkout_id TEXT,
  bouquet_id  TEXT,
  amount      TEXT,
  outcome     TEXT    NOT NULL,
  -- Seconds in the answer's header.
  retry_after INTEGER,
  request_id  TEXT    NOT NULL
) STRICT;

CREATE INDEX trial_call_by_partner ON trial_call (partner_id, id);

-- Look-ups of strangers in the last hour, which count against the limits of partners. All services share them.
CREATE TABLE look_up (
  partner_id  INTEGER NOT NULL,
  environment TEXT    NOT NULL,
  -- HMAC-SHA-256 of the customer id or code.
  hash        TEXT    NOT NULL,
  -- Time at which it was written.
  at          INTEGER NOT NULL,
  PRIMARY KEY (partner_id, environment, hash)
) STRICT, WITHOUT ROWID;

CREATE INDEX look_up_by_at ON look_up (at);

-- Top-ups of the practice customer: the number of calls with a checkoutId, and when the provider reverses its top-up.
CREATE TABLE practice_checkout (
  checkout_id TEXT    PRIMARY KEY,
  calls       INTEGER NOT NULL,
  at          INTEGER NOT NULL,
  reverse_at  INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX practice_checkout_by_at ON practice_checkout (at);
CREATE INDEX practice_checkout_by_reverse_at ON practice_checkout (reverse_at) WHERE reverse_at IS NOT NULL;

-- People who work with the console.
CREATE TABLE staff (
  id              INTEGER PRIMARY KEY,
  name            TEXT    NOT NULL UNIQUE,
  -- Null if OpenID Connect stated no role at the last log-in.
  role            TEXT    CHECK (role IN ('viewer', 'support', 'finance', 'admin', 'seller')),
  -- scrypt, with its parameters and its salt; null if the person logs in with OpenID Connect.
  password        TEXT,
  -- Issuer and subject of OpenID Connect.
  oidc_subject    TEXT    UNIQUE,
  -- The secret of one-time codes, in base 32; null if they are off.
  totp_secret     TEXT,
  -- The time step of the last accepted one-time code: a code is accepted only once.
  totp_step       INTEGER,
  -- A JSON list of the hashes of unused recovery codes.
  recovery_codes  TEXT    NOT NULL,
  -- A JSON list of networks and devices of earlier log-ins, newest first. A device has a cookie, kept here as its hash.
  places          TEXT    NOT NULL,
  created_at      INTEGER NOT NULL,
  last_log_in_at  INTEGER,
  -- Another person set the password.
  must_change_password INTEGER NOT NULL CHECK (must_change_password IN (0, 1)),
  -- The access token of a seller, whose value nobody has: a sale is a top-up with it.
  token_hash      BLOB    UNIQUE REFERENCES access_token (hash),
  CHECK ((token_hash IS NOT NULL) = (role IS NOT NULL AND role = 'seller')),
  CHECK ((password IS NULL) <> (oidc_subject IS NULL)),
  CHECK (role IS NOT NULL OR oidc_subject IS NOT NULL)
) STRICT;

CREATE TABLE staff_session (
  hash         BLOB    PRIMARY KEY,
  -- The name of the session for its owner. It cannot be used to log in.
  id           TEXT    NOT NULL UNIQUE,
  staff_id     INTEGER NOT NULL REFERENCES staff,
  created_at   INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL,
  address      TEXT,
  user_agent   TEXT,
  -- Time at which the person last proved to the issuer who they are; null if unknown or if they log in by password.
  authenticated_at INTEGER
) STRICT, WITHOUT ROWID;

-- Log-ins of the last 15 minutes that failed or are undecided.
CREATE TABLE log_in_failure (
  id     TEXT    PRIMARY KEY,
  at     INTEGER NOT NULL,
  name   TEXT    NOT NULL,
  -- The network or known device of the caller; the session if a logged-in person entered the password again; or `code`.
  source TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX log_in_failure_by_source ON log_in_failure (source, at);

-- API keys of the provider's own systems.
CREATE TABLE staff_key (
  hash         BLOB    PRIMARY KEY,
  name         TEXT    NOT NULL UNIQUE,
  role         TEXT    NOT NULL CHECK (role IN ('viewer', 'support', 'finance', 'admin')),
  -- The person who made it: it allows at most what the role of this person allows. Null if it was made in the shell.
  maker_id     INTEGER REFERENCES staff,
  created_at   INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT, WITHOUT ROWID;

-- Answers to requests with an Idempotency-Key, kept for a day.
CREATE TABLE staff_answer (
  -- SHA-256 of the owner and the Idempotency-Key.
  hash    BLOB    PRIMARY KEY,
  -- The account or API key that sent the request.
  owner   TEXT    NOT NULL,
  -- SHA-256 of the request.
  request BLOB    NOT NULL,
  at      INTEGER NOT NULL,
  -- Null until the request is answered.
  status  INTEGER,
  -- Null if the answer contains a secret, which is shown only once.
  body    TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX staff_answer_by_at ON staff_answer (at);
CREATE INDEX staff_answer_by_owner ON staff_answer (owner);

-- What an account or API key did in a day, for its limits and the second person.
CREATE TABLE staff_day (
  -- The account or API key.
  author           TEXT    NOT NULL,
  -- A day of the provider's clock. Other days stay, so that a wrong clock loses none.
  day              TEXT    NOT NULL,
  goodwill_days    INTEGER NOT NULL,
  bulk_connections INTEGER NOT NULL,
  -- Amounts of reversals, and of entries into partners' accounts, in minor units.
  reversed         INTEGER NOT NULL,
  entered          INTEGER NOT NULL,
  PRIMARY KEY (author, day)
) STRICT, WITHOUT ROWID;

-- Changes that wait for a second person, or have been confirmed or refused: for each subject, the last request.
CREATE TABLE approval (
  id           TEXT    PRIMARY KEY,
  kind         TEXT    NOT NULL CHECK (kind IN ('reversal', 'bulk', 'account_entry', 'credit_limit')),
  -- The txnId of the top-up; the id of the bulk change; or the partner's id, the environment and the reference of an entry.
  subject      TEXT    NOT NULL,
  environment  TEXT    NOT NULL,
  -- The change of an account, as JSON.
  account      TEXT,
  reason       TEXT    NOT NULL,
  -- An account or API key.
  requested_by TEXT    NOT NULL,
  requested_at INTEGER NOT NULL,
  state        TEXT    NOT NULL CHECK (state IN ('waiting', 'confirmed', 'refused')),
  decided_by   TEXT,
  decided_at   INTEGER,
  refusal      TEXT,
  UNIQUE (kind, subject)
) STRICT, WITHOUT ROWID;

-- The last imports of files.
CREATE TABLE import_run (
  id          INTEGER PRIMARY KEY,
  kind        TEXT    NOT NULL CHECK (kind IN ('customers', 'catalogue')),
  environment TEXT    NOT NULL,
  author      TEXT    NOT NULL,
  file        TEXT    NOT NULL,
  as_of       TEXT,
  started_at  INTEGER NOT NULL,
  -- Null while the import runs, or if it was interrupted.
  ended_at    INTEGER,
  outcome     TEXT    NOT NULL CHECK (outcome IN ('running', 'done', 'refused', 'failed')),
  -- A JSON object with counts; null if the import was refused, because it changed nothing.
  report      TEXT,
  -- The reason why it was refused or failed.
  problem     TEXT
) STRICT;

-- Subscriptions that a customers file would have ended too early, until staff decide or a file names the customer again.
CREATE TABLE held_back (
  id          INTEGER PRIMARY KEY,
  environment TEXT    NOT NULL,
  cuid        TEXT    NOT NULL,
  service     TEXT    NOT NULL,
  req_id      TEXT    NOT NULL,
  plan        TEXT    NOT NULL,
  -- The kept bouquet and its end; then the end in the file, null if the file lacks the subscription.
  code        TEXT    NOT NULL,
  kept_end    TEXT,
  stated_end  TEXT,
  txn_id      TEXT,
  -- The end in the row, if top-ups that were reversed after its asOf are subtracted from it.
  row_end     TEXT,
  -- Days of goodwill that keep it although the file contains them.
  goodwill_days INTEGER,
  -- Days of goodwill that the file may contain or lack, when they were given, and the end if the file lacks them.
  unclear_days  INTEGER,
  unclear_at    TEXT,
  lacking_end   TEXT,
  line        INTEGER NOT NULL,
  -- The customer's row of the file with its asOf, as JSON.
  source_row  TEXT    NOT NULL
) STRICT;

-- Bulk changes. A preview is a run that was not started.
CREATE TABLE bulk_run (
  id          INTEGER PRIMARY KEY,
  environment TEXT    NOT NULL CHECK (environment IN ('trial', 'production')),
  action      TEXT    NOT NULL CHECK (action IN ('goodwill', 'block', 'unblock', 'reverse_goodwill')),
  days        INTEGER,
  plan        TEXT,
  -- Wall time or day at which the plans must have run; null for those that run when they are corrected.
  running_at  TEXT,
  -- The bulk change whose goodwill is reversed.
  reverses    INTEGER REFERENCES bulk_run,
  reason      TEXT    NOT NULL,
  author      TEXT    NOT NULL,
  -- Rights of the author, checked in each portion; all are null for the command line.
  staff_id    INTEGER,
  role        TEXT,
  key_hash    BLOB,
  state       TEXT    NOT NULL
    CHECK (state IN ('checking', 'checked', 'waiting', 'running', 'paused', 'done', 'cancelled', 'refused', 'failed')),
  created_at  INTEGER NOT NULL,
  started_at  INTEGER,
  -- Time of the last progress or change of the state.
  changed_at  INTEGER NOT NULL,
  -- Lines of the list that were read; connections to correct, of which some got goodwill in the last day, and some have a plan
  -- that starts again; connections that the list names again; lines left out.
  lines       INTEGER NOT NULL,
  count       INTEGER NOT NULL,
  repeated    INTEGER NOT NULL,
  starts_again INTEGER NOT NULL,
  duplicates  INTEGER NOT NULL,
  problems    INTEGER NOT NULL,
  -- Number of the last line whose connection was corrected or left out, and how many such lines there were.
  place       INTEGER NOT NULL,
  done        INTEGER NOT NULL,
  -- Why it failed.
  problem     TEXT
) STRICT;

-- The connections of a bulk change, each once, and its lines without a connection.
CREATE TABLE bulk_line (
  run_id  INTEGER NOT NULL REFERENCES bulk_run,
  number  INTEGER NOT NULL,
  -- The line of the list and its text.
  line    INTEGER NOT NULL,
  text    TEXT    NOT NULL,
  -- Number of connections that the line means, if it names a customer or a segment.
  whole   INTEGER,
  cuid    TEXT,
  service TEXT,
  req_id  TEXT,
  -- Plan and number of the ledger entry: the goodwill that was given, or that a reversal reverses.
  plan    TEXT,
  entry   INTEGER,
  -- Why the connection is left out.
  problem TEXT,
  PRIMARY KEY (run_id, number)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX bulk_line_by_connection ON bulk_line (run_id, cuid, service, req_id);
CREATE INDEX bulk_line_problem ON bulk_line (run_id, number) WHERE problem IS NOT NULL;

-- Time of the last check that found nothing wrong. fault: what the last check found; NULL: nothing.
CREATE TABLE check_passed (
  only_row INTEGER PRIMARY KEY DEFAULT 1 CHECK (only_row = 1),
  at       INTEGER,
  fault    TEXT
) STRICT;

-- Time of the last verified backup. fault: why the last backup failed; NULL: it did not.
CREATE TABLE backup_taken (
  only_row INTEGER PRIMARY KEY DEFAULT 1 CHECK (only_row = 1),
  at       INTEGER,
  fault    TEXT
) STRICT;

-- Ledgers, top-ups, account entries, closed shifts and the audit trail are never changed. Only history before
-- retention.pruned_before may be deleted.
--- sqlite
CREATE TRIGGER ledger_entry_stays BEFORE UPDATE ON ledger_entry
  BEGIN SELECT RAISE(ABORT, 'a ledger entry is never changed'); END;
CREATE TRIGGER ledger_entry_remains BEFORE DELETE ON ledger_entry
  WHEN NOT EXISTS (SELECT 1 FROM retention WHERE OLD.at < pruned_before)
  BEGIN SELECT RAISE(ABORT, 'a ledger entry is never deleted'); END;
CREATE TRIGGER top_up_stays BEFORE UPDATE OF checkout_id, txn_id, partner_id, environment, cuid, service, req_id,
    bouquet_code, amount, commission, at, txn_date, udf1, udf2 ON top_up
  BEGIN SELECT RAISE(ABORT, 'a top-up is never changed'); END;
CREATE TRIGGER top_up_stays_reversed BEFORE UPDATE OF status ON top_up WHEN OLD.status = 'reversed'
  BEGIN SELECT RAISE(ABORT, 'a reversal is permanent'); END;
CREATE TRIGGER top_up_remains BEFORE DELETE ON top_up
  WHEN NOT EXISTS (SELECT 1 FROM retention WHERE OLD.at < pruned_before)
  BEGIN SELECT RAISE(ABORT, 'a top-up is never deleted'); END;
CREATE TRIGGER account_entry_stays BEFORE UPDATE ON account_entry
  BEGIN SELECT RAISE(ABORT, 'an account entry is never changed'); END;
CREATE TRIGGER account_entry_remains BEFORE DELETE ON account_entry
  BEGIN SELECT RAISE(ABORT, 'an account entry is never deleted'); END;
CREATE TRIGGER shift_stays BEFORE UPDATE ON shift WHEN OLD.closed_at IS NOT NULL
  BEGIN SELECT RAISE(ABORT, 'a closed shift is never changed'); END;
CREATE TRIGGER shift_remains BEFORE DELETE ON shift
  BEGIN SELECT RAISE(ABORT, 'a shift is never deleted'); END;
CREATE TRIGGER sale_stays BEFORE UPDATE OF txn_id, partner_id, environment, seller, method ON sale
  BEGIN SELECT RAISE(ABORT, 'a sale is never changed'); END;
CREATE TRIGGER sale_stays_in_shift BEFORE UPDATE OF shift_id ON sale
  WHEN OLD.shift_id IS NOT NULL OR EXISTS (SELECT 1 FROM shift WHERE id = NEW.shift_id AND closed_at IS NOT NULL)
  BEGIN SELECT RAISE(ABORT, 'a closed shift is never changed'); END;
CREATE TRIGGER sale_stays_returned BEFORE UPDATE OF returned_shift ON sale WHEN OLD.returned_shift IS NOT NULL
    OR EXISTS (SELECT 1 FROM shift WHERE id = NEW.returned_shift AND closed_at IS NOT NULL)
  BEGIN SELECT RAISE(ABORT, 'a closed shift is never changed'); END;
CREATE TRIGGER sale_remains BEFORE DELETE ON sale WHEN NOT EXISTS
    (SELECT 1 FROM retention JOIN top_up AS t ON t.txn_id = OLD.txn_id WHERE t.at < pruned_before)
  BEGIN SELECT RAISE(ABORT, 'a sale is never deleted'); END;
CREATE TRIGGER audit_entry_stays BEFORE UPDATE ON audit_entry
  BEGIN SELECT RAISE(ABORT, 'the audit trail is never changed'); END;
CREATE TRIGGER audit_entry_remains BEFORE DELETE ON audit_entry
  BEGIN SELECT RAISE(ABORT, 'the audit trail is never shortened'); END;

--- postgres
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%', TG_ARGV[0];
END $$;

CREATE FUNCTION refuse_unless_pruned() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE FUNCTION refuse_closed_shift() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.closed_at IS NULL THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'a closed shift is never changed';
END $$;

-- A sale gets its shifts once, while they are open.
CREATE FUNCTION refuse_sale_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF to_jsonb(NEW) - 'shift_id' - 'returned_shift' <> to_jsonb(OLD) - 'shift_id' - 'returned_shift' THEN
    RAISE EXCEPTION 'a sale is never changed';
  END IF;
  IF (OLD.shift_id IS NULL OR NEW.shift_id IS NOT DISTINCT FROM OLD.shift_id)
    AND (OLD.returned_shift IS NULL OR NEW.returned_shift IS NOT DISTINCT FROM OLD.returned_shift)
    AND NOT EXISTS (SELECT 1 FROM shift WHERE closed_at IS NOT NULL
      AND (id = NEW.shift_id AND OLD.shift_id IS NULL OR id = NEW.returned_shift AND OLD.returned_shift IS NULL)) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'a closed shift is never changed';
END $$;

CREATE FUNCTION refuse_sale_unless_pruned() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM retention JOIN top_up AS t ON t.txn_id = OLD.txn_id WHERE t.at < pruned_before) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'a sale is never deleted';
END $$;

CREATE TRIGGER ledger_entry_stays BEFORE UPDATE ON ledger_entry
  FOR EACH ROW EXECUTE FUNCTION refuse_change('a ledger entry is never changed');
CREATE TRIGGER ledger_entry_remains BEFORE DELETE ON ledger_entry
  FOR EACH ROW EXECUTE FUNCTION refuse_unless_pruned('a ledger entry is never deleted');
CREATE TRIGGER top_up_stays BEFORE UPDATE ON top_up
  FOR EACH ROW EXECUTE FUNCTION refuse_unless_reversed('a top-up is never changed');
CREATE TRIGGER top_up_remains BEFORE DELETE ON top_up
  FOR EACH ROW EXECUTE FUNCTION refuse_unless_pruned('a top-up is never deleted');
CREATE TRIGGER account_entry_stays BEFORE UPDATE OR DELETE ON account_entry
  FOR EACH ROW EXECUTE FUNCTION refuse_change('an account entry is never changed');
CREATE TRIGGER shift_stays BEFORE UPDATE ON shift
  FOR EACH ROW EXECUTE FUNCTION refuse_closed_shift();
CREATE TRIGGER shift_remains BEFORE DELETE ON shift
  FOR EACH ROW EXECUTE FUNCTION refuse_change('a shift is never deleted');
CREATE TRIGGER sale_stays BEFORE UPDATE ON sale
  FOR EACH ROW EXECUTE FUNCTION refuse_sale_change();
CREATE TRIGGER sale_remains BEFORE DELETE ON sale
  FOR EACH ROW EXECUTE FUNCTION refuse_sale_unless_pruned();
CREATE TRIGGER audit_entry_stays BEFORE UPDATE OR DELETE ON audit_entry
  FOR EACH ROW EXECUTE FUNCTION refuse_change('the audit trail is never changed');
