// What a person is told of the host's globals that a library looks for and was not granted.

/** The code of the finding that `sandbox-lsp explain` has more about. */
const CODE = "SBX014";

/** What there is on the host under a name: of its global object, or what was given for it. */
export function hostValue(name, capabilities) {
  return Object.hasOwn(capabilities, name) ? capabilities[name] : globalThis[name];
}

/** Whether there is something, without a look at it: some are made when they are looked at. */
export function hostHas(name, capabilities) {
  return Object.hasOwn(capabilities, name) || name in globalThis;
}

/** Watches for what one library is denied. */
export class Denials {
  #library;
  #granted;
  #capabilities;
  #onViolation;
  #reported = new Set();

  /**
   * @param library its name
   * @param granted the names that its policy grants
   * @param capabilities what stands for the host's values
   * @param onViolation is told of each name once
   */
  constructor(library, granted, capabilities, onViolation) {
    this.#library = library;
    this.#granted = granted;
    this.#capabilities = capabilities;
    this.#onViolation = onViolation;
  }

  /**
   * The name that a ReferenceError is about, if the host has it and the policy does not
   * grant it.
   */
  nameIn(error) {
    if (Object.getPrototypeOf(error) !== ReferenceError.prototype) return undefined;
    const message = Object.getOwnPropertyDescriptor(error, "message")?.value;
    const name = /^'?([\w$]+)'? is not defined$/.exec(message)?.[1];
    if (name === undefined || this.#granted.has(name) || !hostHas(name, this.#capabilities)) return undefined;
    return name;
  }

  /** What an error says besides when it goes to a person, with what to do about it. */
  explain(name) {
    return `: the policy of ${this.#library} does not grant ${name} (${CODE}). Add ${JSON.stringify(name)} to its permissions if it may have it`;
  }

  /** Reports a name, once. What the listener throws is its own affair, and said as such. */
  report(name, stack) {
    if (this.#onViolation === undefined || this.#reported.has(name)) return;
    this.#reported.add(name);
    this.#onViolation({ library: this.#library, name, code: CODE, stack });
  }
}

/**
 * The names of the host that a library could look for: of the global object and its
 * prototypes, but what every object has.
 */
export function hostNames(capabilities) {
  const names = new Set(Object.keys(capabilities));
  for (let at = globalThis; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at)) if (name !== "constructor") names.add(name);
  }
  return names;
}
