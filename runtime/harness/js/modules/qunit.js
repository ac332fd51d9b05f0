// QUnit.
import "../realm.js";
import QUnit from "qunit";
import { addCase, shown } from "../cases.js";

QUnit.config.autostart = false;
QUnit.config.testTimeout ??= 5000;
const fileOf = new Map(); // the names of modules and a test -> file
const key = (path) => JSON.stringify(path);
let current;

export const adapter = {
  run(files, load) {
    globalThis.QUnit = QUnit;
    let file;
    const { test } = QUnit;
    for (const entry of files) {
      file = entry[0];
      load(entry);
      for (const module of QUnit.config.modules) for (const made of module.tests) if (!fileOf.has(made.testId)) fileOf.set(made.testId, file);
    }
    void test;
    return new Promise((resolve) => {
      const ids = new Map();
      QUnit.testStart(({ name, module, testId }) => {
        ids.set(key([...(module ? module.split(" > ") : []), name]), testId);
      });
      QUnit.on("testStart", (test) => {
        current = test;
      });
      QUnit.on("testEnd", ({ fullName, status, runtime, assertions, errors }) => {
        current = undefined;
        const [error] = errors;
        const failed = assertions.find((assertion) => !assertion.passed && !assertion.todo) ?? error;
        addCase({
          name: fullName,
          file: fileOf.get(ids.get(key(fullName))) ?? file,
          status,
          error:
            status === "failed" && failed
              ? {
                  name: failed.name ?? "",
                  message: failed.message || "the assertion failed",
                  stack: failed.stack ?? "",
                  actual: shown(() => failed.actual),
                  expected: shown(() => failed.expected),
                }
              : undefined,
          ms: runtime,
        });
      });
      QUnit.on("runEnd", () => resolve());
      QUnit.start();
    });
  },
  open: () => (current ? [{ name: current.fullName, file: undefined }] : []),
  failed(error) {
    QUnit.onUncaughtException(error);
    return true;
  },
};

export default QUnit;
