// Runs the suite in headless Chromium and prints what it shows as one line of JSON.
import { withPage } from "./page.js";

// The suite's own kit compiles text, which a strict policy for scripts would not let it.
const csp = "script-src 'self' 'unsafe-eval'";

const shown = await withPage({ entry: "suite-page.js", csp }, async (page) => {
  if (process.argv.includes("-v")) page.on("console", (message) => console.error(message.text()));
  await page.waitForFunction(() => typeof globalThis.runAll === "function");
  return page.evaluate(() => globalThis.runAll());
});
console.log(JSON.stringify(shown));
