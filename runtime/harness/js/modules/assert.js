// Scripts that throw: each file is one case, which passes when nothing was thrown.
import "../realm.js";
import { addCase, errorOf } from "../cases.js";

let thrown;

export const adapter = {
  async run(files, load) {
    for (const [file, body] of files) {
      thrown = undefined;
      const began = Date.now();
      await load([
        file,
        () => {
          try {
            const exported = body();
            return Promise.resolve(exported?.default ?? exported).catch((error) => (thrown ??= { error }));
          } catch (error) {
            thrown ??= { error };
          }
        },
      ]);
      await new Promise((resolve) => setTimeout(resolve, 0)); // what it rejected is known then
      addCase({ name: [file], file, status: thrown ? "failed" : "passed", error: thrown && errorOf(thrown.error), ms: Date.now() - began });
    }
  },
  failed(error) {
    thrown ??= { error };
    return true;
  },
};
