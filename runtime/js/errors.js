/** Anything that this package itself has to say. */
export class SandboxError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** A limit fired during this very call, or before its promise was settled. The sandbox is dead from now on. */
export class SandboxLimitError extends SandboxError {
  /** @param {"memory" | "time" | "fault"} limit */
  constructor(message, limit) {
    super(message);
    this.limit = limit;
  }
}

/** The sandbox died in an earlier call. */
export class SandboxDeadError extends SandboxError {
  /** @param {"memory" | "time" | "fault"} limit of what it died */
  constructor(message, limit) {
    super(message);
    this.limit = limit;
  }
}

/** The sandbox was disposed of. */
export class SandboxDisposedError extends SandboxError {}

/** The sandbox, or the value that was used, was taken back. */
export class SandboxRevokedError extends SandboxError {}

/** What was thrown, in words. */
export function wordsOf(thrown) {
  try {
    return String(thrown);
  } catch {
    return "something that has no text";
  }
}
