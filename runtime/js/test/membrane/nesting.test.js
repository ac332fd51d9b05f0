// What is nested deeper than any stack crosses whole, in both directions.
import assert from "node:assert/strict";
import { test } from "node:test";
import { SandboxManager } from "../../index.js";

const DEPTH = 10_000;

/** How something is put into a layer, and taken out of it again. */
const layers = {
  objects: [(inner) => ({ inner }), (layer) => layer.inner],
  arrays: [(inner) => [inner], (layer) => layer[0]],
  maps: [(inner) => new Map([["inner", inner]]), (layer) => layer.get("inner")],
  "keys of maps": [(inner) => new Map([[inner, 1]]), (layer) => [...layer.keys()][0]],
  sets: [(inner) => new Set([inner]), (layer) => [...layer][0]],
  "causes of errors": [(cause) => new Error("outer", { cause }), (error) => error.cause],
  "fields of dates": [(inner) => Object.assign(new Date(0), { inner }), (layer) => layer.inner],
  prototypes: [(inner) => ({ __proto__: { inner } }), (layer) => layer.inner],
  promises: [(inner) => ({ inner: Promise.resolve(inner) }), (layer) => layer.inner],
};

const wrap = (put) => {
  let layer = "core";
  for (let i = 0; i < DEPTH; i++) layer = put(layer);
  return layer;
};
const unwrap = async (layer, take) => {
  let depth = 0;
  for (; layer !== "core"; depth++) {
    layer = take(layer);
    if (layer instanceof Promise) layer = await layer;
  }
  return depth;
};

const library = `(() => {
  const DEPTH = ${DEPTH};
  const layers = { ${Object.entries(layers).map(([name, parts]) => `${JSON.stringify(name)}: [${parts.join(", ")}]`)} };
  const wrap = ${wrap}, unwrap = ${unwrap};
  return { wrap: (name) => wrap(layers[name][0]), unwrap: (layer, name) => unwrap(layer, layers[name][1]) };
})()`;

for (const [name, [put, take]] of Object.entries(layers)) {
  test(`nesting: ${name}, ${DEPTH} deep`, async () => {
    const sandbox = await SandboxManager.createSandbox("lib", `__SANDBOXED_LIB__ = ${library}`);
    assert.equal(await sandbox.exports.unwrap(wrap(put), name), DEPTH);
    assert.equal(await unwrap(sandbox.exports.wrap(name), take), DEPTH);
    sandbox.dispose();
  });
}
