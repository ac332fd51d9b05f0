// The host's half of a campaign, evaluated in the realm of the tests after their bundle.
((SandboxManager, native) => {
  const { default: campaign } = __SANDBOX_TESTS__;
  const entries = (exported, plain) => {
    globalThis.__SANDBOX_ENTRIES__ = plain ? { ".": exported } : exported;
  };
  return {
    /** Takes the library that was evaluated in this realm. */
    itself(plain) {
      entries(__SANDBOXED_LIB__, plain);
    },

    /** Loads the library in a sandbox; why that failed, or "". */
    sandboxed(code, options, plain) {
      const { name, ...rest } = JSON.parse(options);
      try {
        entries(SandboxManager.createSandboxSync(name, code, rest).exports, plain);
        return "";
      } catch (error) {
        return `the library does not load in its sandbox: ${error?.message ?? error}`;
      }
    },

    start: () => campaign.start(native),
    failed: (reason) => campaign.failed(reason),
    turn: () => campaign.turn(),
    stuck: () => campaign.stuck(),
    fault: () => campaign.fault(),
  };
})
