// One run of a campaign: an adapter of a test framework, and the test files.
import "./realm.js";
import { addCase, errorOf, setFile, tellTo } from "./cases.js";
import { setClock, turn } from "./loop.js";

/**
 * @param adapter what knows a framework: run(files, load) loads the files and returns a
 *   promise of the end; open() names what began and did not end; failed(error) hears of
 *   what nobody caught
 * @param {[file: string, load: () => unknown][]} files
 */
export function campaignOf(adapter, files) {
  let ended = false;
  let fault;

  const load = ([file, body]) => {
    setFile(file);
    try {
      return body();
    } catch (error) {
      addCase({ name: [file, "(loads)"], status: "failed", error: errorOf(error) });
      return undefined;
    }
  };

  return {
    /** Begins to run; native has tell(text) and forward(ms). */
    start(native) {
      tellTo((text) => native.tell(text));
      setClock((ms) => native.forward(ms));
      Promise.resolve()
        .then(() => adapter.run(files, load))
        .then(
          () => {
            ended = true;
          },
          (error) => {
            ended = true;
            fault = errorOf(error);
          },
        );
    },

    /** Runs what is next; "more", "ended", or "stuck" when nothing can happen any more. */
    turn() {
      if (ended) return "ended";
      try {
        return turn() ? "more" : "stuck";
      } catch (error) {
        this.failed(error);
        return "more";
      }
    },

    /** Hears of an error that nobody caught, or a rejection that nobody handled. */
    failed(error) {
      if (!adapter.failed?.(error)) addCase({ name: ["(uncaught)"], status: "failed", error: errorOf(error) });
    },

    /** Tells of what began and did not end. */
    stuck() {
      for (const { name, file } of adapter.open?.() ?? [])
        addCase({
          name,
          file,
          status: "failed",
          error: { name: "Unsettled", message: "it never ended: nothing is left that could settle what it waits for", stack: "" },
        });
    },

    /** What was wrong with the run as a whole, or "". */
    fault: () => (fault ? `${fault.name}: ${fault.message}\n${fault.stack}` : ""),
  };
}
