// The host's proxies for guest objects that have behaviour: every trap asks the guest.
//
// A proxy may not hide what its target cannot lose, so the target learns of properties
// that are not configurable, and that the object is not extensible, when they are seen.

import { SandboxError, SandboxRevokedError } from "./errors.js";

// Constructible, without a prototype of its own; and the other kind of function.
// biome-ignore lint/complexity/useArrowFunction: an arrow function cannot be constructed
const constructible = () => Function.prototype.bind.call(function () {});
const method = () => () => {};

export function makeStandIn(membrane, engine, sandbox, link, { callable, constructible: isConstructor, array }) {
  const target = callable ? (isConstructor ? constructible() : method()) : array ? [] : {};
  if (callable) {
    delete target.name;
    delete target.length;
  }
  const proxy = new Proxy(target, new StandIn(membrane, engine, sandbox, link));
  return proxy;
}

class StandIn {
  #membrane;
  #engine;
  #sandbox;
  #link;

  constructor(membrane, engine, sandbox, link) {
    this.#membrane = membrane;
    this.#engine = engine;
    this.#sandbox = sandbox;
    this.#link = link;
  }

  get #ref() {
    if (this.#link.revoked) throw new SandboxRevokedError("this value of the sandbox was taken back");
    if (this.#link.released)
      throw new SandboxError("this value of the sandbox went with the scope that it was made in; return from scope() what is to outlive it");
    return this.#link.ref;
  }

  apply(_, self, args) {
    const sandbox = this.#sandbox;
    sandbox.enter();
    try {
      if (sandbox.dataOnly) sandbox.checkData([self, ...args]);
      return sandbox.done(this.#engine.call(this.#ref, self, args));
    } catch (error) {
      throw sandbox.judge(error);
    } finally {
      sandbox.exit();
    }
  }

  construct(_, args, newTarget) {
    return this.#sandbox.run(() => {
      if (this.#sandbox.dataOnly) this.#sandbox.checkData(args);
      const target = this.#membrane.linkOf(newTarget) === this.#link ? this.#ref : this.#membrane.toRef(newTarget);
      return this.#engine.construct(this.#ref, args, target);
    });
  }

  get(_, key, receiver) {
    // A promise that is resolved with it only asks whether to wait; it may be told no.
    if (key === "then" && this.#sandbox.refusal()) return undefined;
    return this.#sandbox.run(() => {
      const ref = this.#ref;
      if (this.#membrane.linkOf(receiver) === this.#link) return this.#engine.get(ref, key);
      return this.#engine.help(this.#membrane.guest.get, [[ref], key, receiver], false, 1);
    });
  }

  set(_, key, value, receiver) {
    if (this.#sandbox.dataOnly) this.#sandbox.checkData([value]);
    return this.#sandbox.run(() => this.#engine.help(this.#membrane.guest.set, [[this.#ref], key, value, receiver], false, 1));
  }

  has(_, key) {
    return this.#sandbox.run(() => this.#engine.has(this.#ref, key));
  }

  deleteProperty(target, key) {
    return this.#sandbox.run(() => this.#engine.delete(this.#ref, key) && (delete target[key] || true));
  }

  defineProperty(target, key, descriptor) {
    if (this.#sandbox.dataOnly) this.#sandbox.checkData([descriptor.value, descriptor.get, descriptor.set]);
    return this.#sandbox.run(() => {
      const done = this.#engine.define(this.#ref, key, descriptor);
      if (done && descriptor.configurable === false) this.#own(target, key);
      return done;
    });
  }

  getOwnPropertyDescriptor(target, key) {
    return this.#sandbox.run(() => this.#own(target, key));
  }

  #own(target, key) {
    const descriptor = this.#engine.own(this.#ref, key);
    if (descriptor && !descriptor.configurable) Reflect.defineProperty(target, key, descriptor);
    return descriptor;
  }

  ownKeys(target) {
    return this.#sandbox.run(() => {
      if (!this.#engine.extensible(this.#ref)) this.#seal(target);
      return this.#engine.keys(this.#ref);
    });
  }

  getPrototypeOf(target) {
    return this.#sandbox.run(() => {
      if (!this.#engine.extensible(this.#ref)) this.#seal(target);
      return this.#proto();
    });
  }

  #proto() {
    return this.#membrane.fromProto(this.#engine.proto(this.#ref));
  }

  setPrototypeOf(_, proto) {
    if (this.#sandbox.dataOnly) this.#sandbox.checkData([proto]);
    return this.#sandbox.run(() => {
      try {
        return this.#engine.setProto(this.#ref, this.#membrane.protoRef(proto));
      } catch (error) {
        if (error instanceof TypeError) return false;
        throw error;
      }
    });
  }

  isExtensible(target) {
    return this.#sandbox.run(() => {
      const extensible = this.#engine.extensible(this.#ref);
      if (!extensible) this.#seal(target);
      return extensible;
    });
  }

  preventExtensions(target) {
    return this.#sandbox.run(() => {
      const done = this.#engine.preventExtensions(this.#ref);
      if (done) this.#seal(target);
      return done;
    });
  }

  /** Makes the target what the guest's object is: complete, and not extensible. */
  #seal(target) {
    if (!Reflect.isExtensible(target)) return;
    for (const key of this.#engine.keys(this.#ref)) Reflect.defineProperty(target, key, this.#engine.own(this.#ref, key));
    Reflect.setPrototypeOf(target, this.#proto());
    Reflect.preventExtensions(target);
  }
}
