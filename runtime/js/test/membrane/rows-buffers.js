// Buffers and what looks at them.
const bytes = (name, make, more) => ({ group: "buffers", name, make, brand: true, ...more });
const kinds = ["Int8", "Uint8", "Uint8Clamped", "Int16", "Uint16", "Int32", "Uint32", "Float32", "Float64"];

const view =
  "(v) => [v.length, v.byteOffset, v.byteLength, v.buffer instanceof ArrayBuffer, ArrayBuffer.isView(v), Object.prototype.toString.call(v), v.join(), Array.isArray(v), v.BYTES_PER_ELEMENT, [...v.subarray(1)].length, v.slice(0, 1).length, v.constructor.name, v.at(-1)]";
const detached = "((b) => { if (b.transfer) b.transfer(); else structuredClone(b, { transfer: [b] }); return b; })";

export const bufferRows = [
  ...kinds.map((kind) =>
    bytes(`${kind}Array`, `(new ${kind}Array([1, 200, -3, 70000, 0.5]))`, { clones: true, probe: view, change: "(v) => { v[1] = 42; v.set([7], 4); }" }),
  ),
  ...["BigInt64", "BigUint64"].map((kind) =>
    bytes(`${kind}Array`, `(new ${kind}Array([1n, -(2n ** 63n), 5n]))`, { clones: true, probe: view, change: "(v) => { v[1] = 42n; }" }),
  ),
  bytes("an empty typed array", "(new Uint8Array(0))", { clones: true, probe: "(v) => [v.length, v.at(-1)]" }),
  bytes("minus zero and NaN in a typed array", "(new Float64Array([-0, NaN, Infinity]))", { probe: "(v) => [v[0], v[1], v[2]]" }),
  bytes("part of a buffer", "(new Uint16Array(new Uint16Array([1, 2, 3, 4]).buffer, 2, 2))", {
    clones: true,
    probe: view,
    change: "(v) => { v[0] = 9; new Uint16Array(v.buffer)[3] = 8; }",
  }),
  bytes("a subarray", "(new Uint8Array([1, 2, 3, 4, 5]).subarray(1, 4))", { probe: view, change: "(v) => { v.fill(9); }" }),
  bytes("two views of one buffer", "(() => { const a = new Uint8Array([1, 2, 3, 4]); return [a, new Uint16Array(a.buffer, 2), new DataView(a.buffer)]; })()", {
    probe: "(v) => { v[0][2] = 77; return [v[0].buffer === v[1].buffer, v[1][0], v[2].getUint8(2), v[2].buffer === v[0].buffer]; }",
    change: "(v) => { v[1][0] = 258; }",
  }),
  bytes("a typed array and its buffer", "(() => { const a = new Uint8Array([1, 2]); return { a, buffer: a.buffer }; })()", {
    probe: "(v) => { new Uint8Array(v.buffer)[0] = 5; return [v.a[0], v.a.buffer === v.buffer]; }",
  }),
  bytes("a typed array of a hundred thousand bytes", "(new Uint8Array(100000).map((_, i) => i * 7))", {
    probe: "(v) => [v.length, v[99999]]",
    change: "(v) => { v[70000] = 1; v[0] = 2; }",
  }),
  bytes("properties of its own", "(Object.assign(new Uint8Array([1]), { note: { a: 1 } }))", { change: "(v) => { v.note.a = 2; v[0] = 2; }" }),
  bytes("a data view", "(new DataView(new Uint8Array([9, 8, 7, 6, 5, 4, 3, 2, 1]).buffer, 1, 8))", {
    clones: true,
    probe: "(v, K) => [v.byteLength, v.byteOffset, v.getUint16(0), v.getUint16(0, true), v.getInt8(7), v.getFloat64(0), K.attempt(() => v.getUint8(8))]",
    change: "(v) => { v.setUint16(0, 258); v.setBigInt64(0, 5n, true); }",
  }),
  bytes("a buffer", "(new Uint8Array([1, 2, 255]).buffer)", {
    clones: true,
    probe: "(v) => [v instanceof ArrayBuffer, v.byteLength, v.slice(1).byteLength, new Uint8Array(v)[2]]",
    change: "(v) => { new Uint8Array(v)[1] = 9; }",
  }),
  bytes("an empty buffer", "(new ArrayBuffer(0))", { clones: true, probe: "(v) => [v.byteLength]" }),
  bytes("a resizable buffer", "(() => { const b = new ArrayBuffer(4, { maxByteLength: 16 }); new Uint8Array(b).set([1, 2, 3, 4]); return b; })()", {
    clones: true,
    probe: "(v, K) => [v.resizable, v.maxByteLength, v.byteLength, K.attempt(() => v.resize(17))]",
    change: "(v) => { v.resize(8); new Uint8Array(v)[7] = 7; }",
  }),
  bytes("a resizable buffer made smaller", "(() => { const b = new ArrayBuffer(8, { maxByteLength: 16 }); new Uint8Array(b).fill(3); return b; })()", {
    change: "(v) => { v.resize(2); }",
  }),
  bytes("a view that follows its buffer's length", "(new Uint8Array(new ArrayBuffer(4, { maxByteLength: 16 })))", {
    probe: "(v) => { const before = v.length; v.buffer.resize(6); return [before, v.length]; }",
    change: "(v) => { v.buffer.resize(10); v[9] = 1; }",
  }),
  bytes("a detached buffer", `(${detached}(new ArrayBuffer(8)))`, {
    probe: "(v, K) => [v.byteLength, K.attempt(() => new Uint8Array(v)), K.attempt(() => v.slice(0))]",
  }),
  bytes("a view of a detached buffer", `(() => { const v = new Uint8Array([1, 2, 3]); ${detached}(v.buffer); return v; })()`, {
    probe: "(v) => [v.length, v.byteLength, v.byteOffset, v[0]]",
  }),
  bytes("a frozen data view", "(Object.freeze(new DataView(new ArrayBuffer(2))))", {
    probe: "(v, K) => [Object.isFrozen(v), K.attempt(() => { v.x = 1; })]",
    change: "(v) => { v.setUint8(0, 5); }",
  }),
  bytes("methods of typed arrays", "(new Int16Array([3, 1, 2]))", {
    probe:
      "(v) => [v.map((x) => x * 2).join(), v.filter((x) => x > 1).join(), v.slice().sort().join(), v.indexOf(2), Array.from(v.entries()).join(), new Uint8Array(v).join()]",
  }),
];
