// The mirrors in the messages of the running call, brought up to date when control passes.

/** Mirrors of one call that are compared at each callback, so that its cost stays flat. */
const MAX_COMPARED = 64;

export class Messages {
  #shadows; // whose turns count
  #depth;
  #mirrors = [];
  #comparing = false;

  constructor(shadows, depth) {
    this.#shadows = shadows;
    this.#depth = depth;
  }

  get any() {
    return this.#mirrors.length > 0;
  }

  /** Notes a mirror that was just made, and is what it is on either side. */
  add(link) {
    this.#mirrors.push(link);
  }

  /** Brings a mirror up to date that is in a message, once a turn. */
  touch(link, fromHost) {
    const { turn } = this.#shadows;
    if ((fromHost ? link.pushed : link.pulled) === turn) return;
    if (link.pushed !== turn && link.pulled !== turn) this.#mirrors.push(link);
    this.mark(link, fromHost);
    this.#depth.run(
      () => bringUpToDate(link, fromHost),
      () => {},
    );
  }

  /** Takes the last of these mirrors into the message of a call that begins. */
  follow(links) {
    for (let i = Math.max(0, links.length - MAX_COMPARED); i < links.length; i++) {
      const link = links[i];
      if (link.ref !== 0 && affordable(link)) this.touch(link, true);
    }
  }

  mark(link, fromHost) {
    if (fromHost) link.pushed = this.#shadows.turn;
    else link.pulled = this.#shadows.turn;
  }

  /** Brings what is in the messages up to date, at a callback. */
  sync(fromHost) {
    // A prototype that is looked at on the way may itself be a way into the guest.
    if (this.#comparing) return;
    this.#comparing = true;
    try {
      const mirrors = this.#mirrors;
      for (let i = Math.max(0, mirrors.length - MAX_COMPARED); i < mirrors.length; i++) {
        const link = mirrors[i];
        const fresh = (fromHost ? link.pushed : link.pulled) === this.#shadows.turn;
        if (link.ref === 0 || fresh || !affordable(link)) continue;
        this.mark(link, fromHost);
        bringUpToDate(link, fromHost);
      }
    } finally {
      this.#comparing = false;
    }
  }

  /** The outermost call returns: the host goes on with what it was given. */
  end() {
    const mirrors = this.#mirrors;
    this.#mirrors = [];
    for (const link of mirrors) if (link.ref !== 0) bringUpToDate(link, false);
  }
}

function bringUpToDate(link, fromHost) {
  const value = link.held;
  if (value !== undefined && link.base !== undefined) link.mirror.sync(link, value, fromHost);
}

// A large one is compared at the first callback, and then when as much has happened
// besides, so that many callbacks cost no more than what they do.
function affordable(link) {
  const size = link.mirror.size(link);
  if (size <= MAX_COMPARED) return true;
  link.credit = link.credit === undefined ? 0 : link.credit + MAX_COMPARED - size;
  if (link.credit >= 0) return true;
  link.credit += size;
  return false;
}
