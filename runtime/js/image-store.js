// Images that outlive their page, in its Cache Storage. Whatever may have happened to one
// there, its library is evaluated instead.
import { guestSource } from "./guest.js";
import { hashOf } from "./hash.js";
import { textOf, utf8 } from "./text.js";
import { engineHash } from "./wasm.js";

const CACHE = "sandbox-lsp-images";
const HASH_CHARS = 64;
const LENGTH_BYTES = 4;

/** Changes with what is said of an image here. */
const FORMAT = 1;

let asked = false;

/** Lets images be kept, in hosts that have Cache Storage. */
export function persist() {
  asked = true;
}

const isPersistent = () => asked && typeof caches === "object";

/** There is one image of a library in a situation: that of its last version. */
const placeOf = async (situation) => `/sandbox-lsp/image/${await hashOf(utf8.encode(situation))}`;

/** What an image fits, besides its situation. */
async function originOf(code) {
  const [bundle, guest] = await Promise.all([hashOf(utf8.encode(code)), hashOf(utf8.encode(guestSource))]);
  return { format: FORMAT, engine: engineHash(), bundle, guest };
}

/** The image of a library that is kept, if it is one that fits. */
export async function readImage(name, code, situation) {
  if (!isPersistent()) return undefined;
  try {
    const cache = await caches.open(CACHE);
    const found = await cache.match(await placeOf(situation));
    if (found === undefined) return undefined;
    return await unpack(name, new Uint8Array(await found.arrayBuffer()), await originOf(code));
  } catch (error) {
    warn(name, `cannot be read: ${error.message}`);
    return undefined;
  }
}

/** Keeps an image. A page that may not store anything goes on without. */
export async function writeImage(code, situation, image) {
  if (!isPersistent()) return;
  try {
    const [cache, place, packed] = await Promise.all([caches.open(CACHE), placeOf(situation), pack(image, await originOf(code))]);
    await cache.put(place, new Response(packed));
  } catch {
    // There is less room than it needs.
  }
}

const warn = (name, what) => console.warn(`sandbox-lsp: the image of ${name} that this page keeps ${what}. The library is evaluated instead.`);

// The hash of all that follows; the length of the data; the data; the memory.

async function pack({ engine, membrane, granted, library }, origin) {
  const { memory, ...instance } = engine.instance;
  const data = utf8.encode(JSON.stringify({ origin, image: { engine: { ...engine, instance }, membrane, granted, library } }));
  const packed = new Uint8Array(HASH_CHARS + LENGTH_BYTES + data.length + memory.byteLength);
  new DataView(packed.buffer).setUint32(HASH_CHARS, data.length);
  packed.set(data, HASH_CHARS + LENGTH_BYTES);
  packed.set(new Uint8Array(memory), HASH_CHARS + LENGTH_BYTES + data.length);
  packed.set(utf8.encode(await hashOf(packed.subarray(HASH_CHARS))));
  return packed;
}

async function unpack(name, packed, wanted) {
  const content = packed.subarray(HASH_CHARS);
  if ((await hashOf(content)) !== textOf(packed.subarray(0, HASH_CHARS))) {
    warn(name, "is damaged: its hash is another one (SBX045)");
    return undefined;
  }
  const start = HASH_CHARS + LENGTH_BYTES;
  const end = start + new DataView(packed.buffer).getUint32(HASH_CHARS);
  const { origin, image } = JSON.parse(new TextDecoder().decode(packed.subarray(start, end)));
  if (origin.engine !== wanted.engine) {
    warn(name, "is of another QuickJS engine");
    return undefined;
  }
  // Another version of the library, or of the runtime, is nothing to be told of.
  if (Object.keys(wanted).some((part) => origin[part] !== wanted[part])) return undefined;
  image.engine.instance.memory = packed.slice(end).buffer;
  return image;
}
