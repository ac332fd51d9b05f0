// Values that the application's own marshallers carry over, before what is built in.
import { SandboxError } from "./errors.js";
import { isObject } from "./links.js";

export class Marshalling {
  #marshallers;
  #sandbox;
  #busy = false;

  /** @param sandbox the face of sandbox.js, with the marshallers and what they are given */
  constructor(sandbox) {
    this.#marshallers = sandbox.marshallers;
    this.#sandbox = sandbox;
  }

  /** Whether marshallers are to be asked: not while one of them makes or looks at values. */
  get asks() {
    return this.#marshallers.length > 0 && !this.#busy;
  }

  /** Whether one of them is at work. */
  get busy() {
    return this.#busy;
  }

  /** Whether a host value is carried over. */
  carries(value) {
    return this.#wanting("isWrappable", value) !== undefined;
  }

  /** What goes into the sandbox in place of a host value; undefined when none wants it. */
  marshal(value) {
    const marshaller = this.#wanting("isWrappable", value);
    if (marshaller === undefined) return undefined;
    const given = this.#aside((context) => marshaller.marshal(value, context));
    if (!isObject(given) || this.#aside((context) => marshaller.isWrappable(given, context)))
      throw new SandboxError("a marshaller's marshal() gives an object, array or function of another kind in place of the value");
    return given;
  }

  /** The marshaller that wants a guest's object, seen through its stand-in, or undefined. */
  forHandle(handle) {
    return this.#wanting("isHandleWrappable", handle);
  }

  /** What it makes of that. */
  unmarshal(marshaller, handle) {
    return this.#aside((context) => marshaller.unmarshal(handle, context));
  }

  #wanting(question, value) {
    return this.#marshallers.find((marshaller) => this.#aside((context) => marshaller[question](value, context)));
  }

  // A marshaller is the application's code, for which the guest's clock stands still. What
  // it makes and looks at on the way is not converted in turn.
  #aside(body) {
    const before = this.#busy;
    this.#busy = true;
    try {
      return this.#sandbox.pause(() => body(this.#sandbox.marshalling));
    } finally {
      this.#busy = before;
    }
  }
}

/** Disposes of marshallers, of all whatever one of them does, and returns what they threw. */
export function disposeOf(marshallers) {
  const thrown = [];
  for (const marshaller of marshallers) {
    try {
      marshaller.dispose();
    } catch (error) {
      thrown.push(error);
    }
  }
  return thrown;
}
