import { createHash } from "node:crypto";
import { type Part, VERSION } from "./lock.ts";
import { type Arch, NODE_ARCH, type NodeFiles } from "./node-binary.ts";

/** The list of everything inside, as CycloneDX 1.6. The same parts at the same time have the same text. */
export function sbom(parts: readonly Part[], node: NodeFiles, arch: Arch, epoch: number): string {
  const refOf = new Map(parts.map((part) => [part.path, purlOf(part.name, part.version)]));
  const topupd = purlOf("topupd", VERSION);
  const ofNode = purlOf(`node-linux-${NODE_ARCH[arch]}`, node.version);
  const needed = new Set(parts.flatMap(({ needs }) => needs));
  const refs = (paths: readonly string[]) => [...new Set(paths.map((path) => refOf.get(path) ?? path))].sort();
  const roots = parts.filter(({ path }) => !needed.has(path)).map(({ path }) => path);
  const components = [
    component(`node-linux-${NODE_ARCH[arch]}`, node.version, "MIT", node.integrity, "platform"),
    ...parts.map((part) => ({
      ...component(part.name, part.version, part.license ?? "", part.integrity, "library"),
      properties: [{ name: "topupd:place", value: part.isInstalled ? "node_modules" : "bundled" }],
    })),
  ];
  const unique = [...new Map(components.map((each) => [each["bom-ref"], each])).values()];
  const dependencies = [
    { ref: topupd, dependsOn: [ofNode, ...refs(roots)] },
    { ref: ofNode, dependsOn: [] },
    ...parts.map(({ path, needs }) => ({ ref: refOf.get(path) as string, dependsOn: refs(needs) })),
  ];
  const body = {
    version: 1,
    metadata: {
      timestamp: new Date(epoch * 1000).toISOString(),
      component: component("topupd", VERSION, "MIT", undefined, "application"),
    },
    components: unique,
    dependencies: [...new Map(dependencies.map((each) => [each.ref, each])).values()],
  };
  const [, a, b, c, d, e] = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(
    createHash("sha256").update(JSON.stringify(body)).digest("hex"),
  ) as RegExpExecArray;
  const head = { bomFormat: "CycloneDX", specVersion: "1.6", serialNumber: `urn:uuid:${a}-${b}-8${c}-8${d}-${e}` };
  return `${JSON.stringify({ ...head, ...body }, undefined, 2)}\n`;
}

function component(name: string, version: string, licence: string, integrity: string | undefined, type: string) {
  const purl = purlOf(name, version);
  const [, sha512] = /^sha512-(.+)$/.exec(integrity ?? "") ?? [];
  const content = sha512 === undefined ? undefined : Buffer.from(sha512, "base64").toString("hex");
  return {
    type,
    "bom-ref": purl,
    name,
    version,
    licenses: [/ (?:OR|AND) /.test(licence) ? { expression: licence } : { license: { id: licence } }],
    purl,
    ...(content === undefined ? {} : { hashes: [{ alg: "SHA-512", content }] }),
  };
}

function purlOf(name: string, version: string): string {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}
