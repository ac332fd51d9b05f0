// Runs while the package loads, so the sandbox has to grant `document` or refuse.
export function makeProbe() {
  return document.createElement("dialog");
}
