// tape: each assertion is a case, as in its own count.
import "../realm.js";
import tape from "tape";
import { addCase, currentFile, shown } from "../cases.js";

// What a test throws at once would end the process; here it fails that test alone, as
// what it rejects with does. One subtest runs inside of the end of the one before it,
// which a stack of V8 is large enough for; here each begins with an empty one.
const { run } = tape.Test.prototype;
tape.Test.prototype.run = function () {
  const body = this._cb;
  if (typeof body === "function") {
    this._cb = function (t) {
      try {
        return body.call(this, t);
      } catch (error) {
        return Promise.reject(error);
      }
    };
  }
  queueMicrotask(() => run.call(this));
};

const tests = new Map(); // id -> { path, file, began, ended, top, cases }

export const adapter = {
  async run(files, load) {
    const rows = tape.createStream({ objectMode: true });
    // Top-level tests run in the order in which the files made them.
    const owners = [];
    const { getHarness } = tape;
    const made = () => getHarness()._tests?.length ?? 0;
    let top = 0;
    rows.on("data", (row) => {
      if (row.type === "test") {
        const parent = tests.get(row.parent);
        const file = parent ? parent.file : (owners[top++] ?? currentFile());
        const path = parent ? [...parent.path, row.name] : [row.name];
        tests.set(row.id, { path, file, ended: false, began: Date.now() });
        if (row.skip) addCase({ name: path, file, status: "skipped" });
      } else if (row.type === "assert") {
        const test = tests.get(row.test);
        const status = row.skip ? "skipped" : row.ok ? "passed" : row.todo ? "todo" : "failed";
        const error = row.ok || row.skip ? undefined : failureOf(row);
        addCase({ name: [...test.path, String(row.name)], file: test.file, status, error, ms: Date.now() - test.began });
        test.began = Date.now();
      } else if (row.type === "end") {
        tests.get(row.test).ended = true;
      }
    });
    const finished = new Promise((resolve) => tape.onFinish(resolve));
    for (const entry of files) {
      load(entry);
      while (owners.length < made()) owners.push(entry[0]);
    }
    if (made() > 0) await finished;
  },

  open: () => Array.from(tests.values()).flatMap((test) => (test.ended ? [] : [{ name: [...test.path, "(ends)"], file: test.file }])),
};

function failureOf(row) {
  const error = row.error;
  return {
    name: error?.name ?? "",
    message: String(error?.message ?? row.name),
    stack: String(error?.stack ?? ""),
    actual: shown(() => row.actual),
    expected: shown(() => row.expected),
    operator: row.operator,
  };
}

export default tape;
