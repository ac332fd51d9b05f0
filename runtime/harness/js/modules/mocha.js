// mocha, with its BDD, TDD, QUnit and exports interfaces: the globals of all of them.
import "../realm.js";
import "mocha/mocha.js";
import { addCase, errorOf } from "../cases.js";

const { Mocha } = globalThis;
let runner;
let current;
const fileOf = new WeakMap(); // top suite -> file

const mocha = new Mocha({ ui: "bdd", reporter: class {}, timeout: 2000 });

const place = (test) => {
  const name = [];
  let file = "";
  for (let at = test; at; at = at.parent) {
    if (at.title) name.unshift(at.title);
    file = fileOf.get(at) ?? file;
  }
  return { name, file };
};

/** The functions that test files call, in all interfaces. */
function expose() {
  const found = {};
  for (const ui of ["exports", "qunit", "tdd", "bdd"]) {
    const collector = {};
    mocha.ui(ui);
    mocha.suite.emit("pre-require", collector, null, mocha);
    mocha.suite.removeAllListeners("pre-require");
    mocha.suite.removeAllListeners("require");
    Object.assign(found, collector);
  }
  return found;
}

export const adapter = {
  run(files, load) {
    Object.assign(globalThis, api);
    for (const entry of files) {
      const before = new Set([...mocha.suite.suites, ...mocha.suite.tests]);
      const exported = load(entry);
      exportedSuites(exported, mocha.suite);
      for (const made of [...mocha.suite.suites, ...mocha.suite.tests]) if (!before.has(made)) fileOf.set(made, entry[0]);
    }
    return new Promise((resolve) => {
      runner = mocha.run(() => resolve());
      runner.on("test", (test) => {
        current = test;
      });
      const ended = (status) => (test, error) => {
        current = undefined;
        addCase({ ...place(test), status, error: error === undefined ? undefined : errorOf(error), ms: test.duration ?? 0 });
      };
      runner.on("pass", ended("passed"));
      runner.on("fail", ended("failed"));
      runner.on("pending", ended("skipped"));
    });
  },
  open: () => (current ? [place(current)] : []),
  failed(error) {
    if (!runner) return false;
    runner._uncaught(error);
    return true;
  },
};

/** What a file exports is suites in the exports interface, and nothing in the others. */
function exportedSuites(exported, suite) {
  if (typeof exported !== "object" || exported === null || Object.keys(exported).length === 0) return;
  if (mocha.suite.suites.length + mocha.suite.tests.length > 0) return;
  const visit = (tree, parent) => {
    for (const [key, value] of Object.entries(tree)) {
      if (typeof value === "function") {
        if (key === "before") parent.beforeAll(value);
        else if (key === "after") parent.afterAll(value);
        else if (key === "beforeEach" || key === "afterEach") parent[key](value);
        else parent.addTest(new Mocha.Test(key, value));
      } else if (typeof value === "object" && value !== null) {
        visit(value, Mocha.Suite.create(parent, key));
      }
    }
  };
  visit(exported, suite);
}

const api = expose();
export default Object.assign(Mocha, api);
