-- A top-up as one call of a stored procedure, on the tables of topupd: the same rows are locked, read and written as
-- topupd locks, reads and writes for one. What topupd has in memory is a constant here: the partner, and the bouquet.

CREATE FUNCTION bench_top_up(customer_index integer) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  bouquet_code  CONSTANT text := 'NET-1M';
  bouquet_name  CONSTANT text := 'Fiber 100 Mbps (MONTHLY)';
  bouquet_plan  CONSTANT text := 'Fiber 100 Mbps';
  bouquet_price CONSTANT bigint := 113000;
  at_ms         CONSTANT bigint := extract(epoch FROM clock_timestamp()) * 1000;

  this_env      CONSTANT text := 'production';
  this_service  CONSTANT text := 'internet';
  this_cuid     CONSTANT text := '2' || lpad(customer_index::text, 7, '0');
  this_req_id   CONSTANT text := 'user' || lpad(customer_index::text, 7, '0');
  digest        CONSTANT bigint :=
    ('x' || encode(substr(sha256(convert_to(this_env || ':' || this_cuid, 'UTF8')), 1, 4), 'hex'))::bit(32)::bigint;
  this_checkout CONSTANT text := replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '');
  this_txn      CONSTANT text := upper(left(this_checkout, 26));

  customer_status text;
  checkout        record;
  this_connection record;
  run_start       bigint;
  run_months      integer;
  run_days        integer;
  run_seconds     bigint;
  run_end         bigint;
BEGIN
  SELECT c.status INTO customer_status FROM customer AS c
    WHERE c.customer_digest = digest AND c.environment = this_env AND c.cuid = this_cuid
    FOR NO KEY UPDATE;

  SELECT r.checkout_id IS NOT NULL AS retired, t.* INTO checkout
    FROM (VALUES (digest, this_checkout)) AS k(customer_digest, checkout_id)
    LEFT JOIN top_up AS t ON t.customer_digest = k.customer_digest AND t.checkout_id = k.checkout_id
    LEFT JOIN retired_checkout AS r ON r.customer_digest = k.customer_digest AND r.checkout_id = k.checkout_id;

  -- Of the plan that is bought, since nothing depends on the others here.
  SELECT n.status, n.topped_up, n.segment, s.* INTO this_connection
    FROM connection AS n
    LEFT JOIN subscription AS s ON s.customer_digest = n.customer_digest AND s.environment = n.environment
      AND s.cuid = n.cuid AND s.service = n.service AND s.req_id = n.req_id AND s.plan = bouquet_plan
    WHERE n.customer_digest = digest AND n.environment = this_env AND n.cuid = this_cuid
      AND n.service = this_service AND n.req_id = this_req_id;

  IF customer_status IS DISTINCT FROM 'active' THEN RAISE EXCEPTION 'there is no such customer: %', this_cuid; END IF;
  IF checkout.retired OR checkout.txn_id IS NOT NULL THEN RAISE EXCEPTION 'the checkout is used'; END IF;
  IF this_connection.status IS NULL OR this_connection.status = 'blocked' THEN RAISE EXCEPTION 'no such connection'; END IF;

  IF this_connection.end_at > at_ms THEN
    run_start := this_connection.start_at;
    run_months := this_connection.months;
    run_days := this_connection.days;
    run_seconds := this_connection.seconds;
  ELSE
    run_start := at_ms;
    run_months := 0;
    run_days := 0;
    run_seconds := 0;
    this_connection.topped_up_months := 0;
    this_connection.topped_up_days := 0;
    this_connection.goodwill_days := 0;
  END IF;
  run_months := run_months + 1;
  -- Months of the calendar, clamped to their ends, then days.
  run_end := extract(epoch FROM (to_timestamp(run_start / 1000.0) AT TIME ZONE 'UTC')
    + make_interval(months => run_months) + make_interval(days => run_days, secs => run_seconds)) * 1000;

  INSERT INTO top_up (customer_digest, checkout_id, txn_id, partner_id, environment, cuid, service, req_id,
      bouquet_code, amount, at, status, udf1, udf2)
    VALUES (digest, this_checkout, this_txn, 1, this_env, this_cuid, this_service, this_req_id,
      bouquet_code, bouquet_price, at_ms, 'success', 'order-' || customer_index, NULL);

  INSERT INTO subscription_grant (customer_digest, environment, cuid, service, req_id, plan, kind, at, code, name, add_on,
      start_at, months, days, seconds, on_top_months, on_top_days, checkout_id, seq)
    SELECT digest, this_env, this_cuid, this_service, this_req_id, bouquet_plan, 'top_up', at_ms, bouquet_code,
      bouquet_name, false, NULL, 1, 0, 0, NULL, NULL, this_checkout, 1 + coalesce(
        (SELECT max(g.seq) FROM subscription_grant AS g
         WHERE g.customer_digest = digest AND g.environment = this_env AND g.cuid = this_cuid
           AND g.service = this_service AND g.req_id = this_req_id AND g.plan = bouquet_plan), 0);

  INSERT INTO subscription AS s (customer_digest, environment, cuid, service, req_id, plan, code, name, add_on,
      start_at, end_at, months, days, seconds, topped_up_months, topped_up_days, goodwill_days, granted_end_at)
    VALUES (digest, this_env, this_cuid, this_service, this_req_id, bouquet_plan, bouquet_code, bouquet_name, false,
      run_start, run_end, run_months, run_days, run_seconds, this_connection.topped_up_months + 1,
      this_connection.topped_up_days, this_connection.goodwill_days, run_end)
    ON CONFLICT (customer_digest, environment, cuid, service, req_id, plan) DO UPDATE SET
      code = excluded.code, name = excluded.name, add_on = excluded.add_on, start_at = excluded.start_at,
      end_at = excluded.end_at, months = excluded.months, days = excluded.days, seconds = excluded.seconds,
      topped_up_months = excluded.topped_up_months, topped_up_days = excluded.topped_up_days, goodwill_days = excluded.goodwill_days,
      granted_end_at = excluded.granted_end_at;

  IF this_connection.status = 'inactive' AND NOT this_connection.topped_up THEN
    UPDATE connection AS n SET topped_up = true
      WHERE n.customer_digest = digest AND n.environment = this_env AND n.cuid = this_cuid
        AND n.service = this_service AND n.req_id = this_req_id;
  END IF;

  RETURN this_txn;
END $$;
