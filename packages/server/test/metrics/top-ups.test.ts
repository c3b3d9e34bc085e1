import { describe, expect, test } from "vitest";
import { type MeasuredService, startMeasuredService } from "../support/measured-service.ts";
import { CATALOGUE, SITA, SITA_NET } from "../support/provider-files.ts";
import { prepareTopUp } from "../support/service.ts";

const TRIAL_NET = { cuid: "1000001", service: "internet", reqId: "trial1" };

/** What of a counter is above zero, as it was written, by `environment service`. */
async function takings({ read }: MeasuredService, name: string): Promise<Record<string, string>> {
  const { samples } = await read();
  expect(samples(name)).toHaveLength(6);
  const sold = samples(name).filter(({ value }) => value !== 0);
  return Object.fromEntries(sold.map(({ labels, text }) => [`${labels["environment"]} ${labels["service"]}`, text]));
}

describe("top-ups and their money", () => {
  test("are 0 for every service and environment before the first", async () => {
    const measured = await startMeasuredService();
    expect(await takings(measured, "topupd_top_ups_total")).toEqual({});
    expect(await takings(measured, "topupd_top_up_amount_total")).toEqual({});
  });

  test("are counted by service, trial and production apart, and neither for a replay nor for a refusal", async () => {
    const measured = await startMeasuredService();
    const { service } = measured;
    await service.importCatalogue(CATALOGUE);
    await service.importCustomers([SITA]);
    const live = { token: service.liveToken };
    const topUp = async (connection: typeof SITA_NET, bouquetId: string, options?: typeof live) => {
      const purchase = await prepareTopUp(service, connection, bouquetId, options);
      await service.call("subscription-package-topup", { ...purchase, amt: "0.01" }, options);
      for (const version of ["v1.0.1", "v1.0.1", "v1.0.0"] as const)
        expect((await service.call("subscription-package-topup", purchase, { ...options, version })).status).toBe(200);
    };
    for (const bouquet of ["NET-3M", "NET-3M", "NET-1M"]) await topUp(SITA_NET, bouquet, live);
    await topUp(TRIAL_NET, "TRIAL-NET-1M");
    const [, stb = ""] =
      /"stb":"([^"]+)","status":"active"/.exec(
        JSON.stringify((await service.call("get-customer-information", { code: "1000001" })).json),
      ) ?? [];
    const { json } = await service.call("get-subscription-package", { cuid: "1000001", service: "tv", reqId: stb });
    await topUp({ cuid: "1000001", service: "tv", reqId: stb }, json.body.tv.bouquets[0].code);

    expect(await takings(measured, "topupd_top_ups_total")).toEqual({
      "production internet": "3",
      "trial internet": "1",
      "trial tv": "1",
    });
    expect(await takings(measured, "topupd_top_up_amount_total")).toEqual({
      "production internet": "7571",
      "trial internet": "1130",
      "trial tv": String(json.body.tv.bouquets[0].price),
    });
  });

  test("are summed up without a rounding, where floats would drift", async () => {
    const measured = await startMeasuredService();
    const { service } = measured;
    await service.importCatalogue([{ ...CATALOGUE[0], price: "0.10" }]);
    await service.importCustomers([SITA]);
    for (let time = 0; time < 3; time += 1) {
      const purchase = await prepareTopUp(service, SITA_NET, "NET-1M", { token: service.liveToken });
      await service.call("subscription-package-topup", purchase, { token: service.liveToken });
    }
    // 0.1 + 0.1 + 0.1 is 0.30000000000000004 in floats.
    expect(await takings(measured, "topupd_top_up_amount_total")).toEqual({ "production internet": "0.3" });
  });

  test("are in major units of whatever currency the provider has", async () => {
    const measured = await startMeasuredService({ currencyExponent: 3, bare: true });
    const { service } = measured;
    await service.importCatalogue([{ ...CATALOGUE[0], price: "12.345" }]);
    await service.importCustomers([SITA]);
    const purchase = await prepareTopUp(service, SITA_NET, "NET-1M", { token: service.liveToken });
    await service.call("subscription-package-topup", purchase, { token: service.liveToken });
    expect(await takings(measured, "topupd_top_up_amount_total")).toEqual({ "production internet": "12.345" });
  });
});
