// Mirrors of buffers and of the views of them.
import { Brand, host, protoOf } from "./brand.js";
import { isIndex } from "./properties.js";

export class BufferBrand extends Brand {
  is(value) {
    host.byteLength(value);
    return true;
  }
  toGuest(value) {
    const limit = host.resizable(value) ? host.maxByteLength(value) : -1;
    return this.engine.help(this.guest.makeBuffer, [host.byteLength(value), limit], true);
  }
  toHost(ref) {
    const limit = this.engine.help(this.guest.bufferLimit, [[ref]]);
    const length = this.engine.byteLength(ref) ?? 0;
    return limit < 0 ? new ArrayBuffer(length) : new ArrayBuffer(length, { maxByteLength: limit });
  }
  hostContent(value) {
    return host.byteLength(value) === 0 ? new Uint8Array(0) : new Uint8Array(value).slice(); // a detached one has no bytes
  }
  guestContent(ref) {
    return this.engine.bytes(ref) ?? new Uint8Array(0);
  }
  sameContent(a, b) {
    if (a.length !== b.length) return false;
    // Both begin where their buffers do.
    const words = a.length >> 2;
    const [these, those] = [new Int32Array(a.buffer, 0, words), new Int32Array(b.buffer, 0, words)];
    for (let i = 0; i < words; i++) if (these[i] !== those[i]) return false;
    for (let i = words << 2; i < a.length; i++) if (a[i] !== b[i]) return false;
    return true;
  }
  fillGuest(ref, value, link) {
    super.fillGuest(ref, value, link);
    if (isDetached(value)) this.engine.detach(ref);
  }
  fillHost(ref, value, link) {
    super.fillHost(ref, value, link);
    if (this.engine.byteLength(ref) === undefined) detach(value);
  }
  setGuest(ref, bytes) {
    if (this.engine.byteLength(ref) !== bytes.length) this.engine.help(this.guest.resize, [[ref], bytes.length]);
    this.engine.setBytes(ref, bytes);
  }
  setHost(value, bytes) {
    if (host.byteLength(value) !== bytes.length) {
      if (host.resizable(value)) host.resize(value, bytes.length);
      else if (bytes.length === 0) detach(value);
    }
    if (bytes.length > 0) new Uint8Array(value).set(bytes);
  }
  size(link) {
    return (link.base?.content?.length ?? 0) >> 6; // bytes cost less
  }

  weight(link) {
    return 128 + (link.base?.content?.length ?? 0);
  }
}

function isDetached(buffer) {
  if (host.byteLength(buffer) > 0) return false;
  try {
    new Uint8Array(buffer);
    return false;
  } catch {
    return true;
  }
}

/** Detaches a buffer, where the host knows how. */
function detach(buffer) {
  if (typeof buffer.transfer === "function") buffer.transfer();
  else if (typeof structuredClone === "function") structuredClone(buffer, { transfer: [buffer] });
}

/**
 * Whether a view has the length of its buffer, whatever that is. Nothing says it, so the
 * buffer is made longer for a moment; where it cannot be, a view that ends with it does.
 */
function follows(view, buffer, name) {
  if (!host.resizable(buffer)) return false;
  const length = host.byteLength(buffer);
  const before = host.part(view, "byteLength");
  const size = name === "DataView" ? 1 : view.BYTES_PER_ELEMENT;
  if (length + size > host.maxByteLength(buffer)) return host.part(view, "byteOffset") + before > length - size;
  host.resize(buffer, length + size);
  const followed = host.part(view, "byteLength") !== before;
  host.resize(buffer, length);
  return followed;
}

export class ViewBrand extends Brand {
  is(value) {
    return ArrayBuffer.isView(value);
  }
  name(value) {
    return host.viewTag(value) ?? "DataView";
  }
  toGuest(value, link) {
    const { engine, guest, membrane } = this;
    let buffer = host.part(value, "buffer");
    let byteOffset = host.part(value, "byteOffset");
    const byteLength = host.part(value, "byteLength");
    const name = this.name(value);
    const tracking = follows(value, buffer, name);
    // A pool holds what is none of the guest's: only the view's own bytes cross then.
    if (protoOf(value) !== globalThis[name]?.prototype && byteOffset + byteLength < host.byteLength(buffer)) {
      link.pooled = true;
      buffer = ArrayBuffer.prototype.slice.call(buffer, byteOffset, byteOffset + byteLength);
      byteOffset = 0;
    }
    const length = tracking ? undefined : name === "DataView" ? byteLength : host.part(value, "length");
    if (!isDetached(buffer)) return engine.help(guest.makeView, [name, [membrane.toRef(buffer)], byteOffset, length], true);
    const spare = engine.help(guest.makeBuffer, [0, -1], true);
    const view = engine.help(guest.makeView, [name, [spare], 0, 0], true);
    engine.detach(spare);
    engine.free(spare);
    return view;
  }
  toHost(ref) {
    const { engine, guest, membrane } = this;
    const name = engine.classOf(ref);
    const Class = globalThis[name];
    if (Class === undefined) return undefined;
    const buffer = engine.help(guest.viewBuffer, [name, [ref]], true);
    const length = engine.byteLength(buffer);
    // No view is made of a buffer that is detached already.
    const local = length === undefined ? new ArrayBuffer(0) : membrane.fromRef(buffer);
    engine.free(buffer);
    const tracking = length !== undefined && engine.help(guest.viewFollows, [name, [ref], length]);
    const view = new Class(local, engine.help(guest.viewOffset, [name, [ref]]), tracking ? undefined : engine.help(guest.viewLength, [name, [ref]]));
    if (length === undefined) detach(local);
    return view;
  }
  // The bytes are the buffer's, which is in the message as well.
  sync(link, value, fromHost) {
    super.sync(link, value, fromHost);
    if (!link.pooled) this.membrane.touchValue(host.part(value, "buffer"), fromHost);
  }
}

/** The elements of a typed array are its buffer's. */
export class TypedBrand extends ViewBrand {
  skip = isIndex;
}
