import { missing } from "./missing.js"; // want SBX040 there is no such file

export function present() {
  return missing();
}
