// Every row of the value table whose value is one expression.
import { bufferRows } from "./rows-buffers.js";
import { classRows } from "./rows-classes.js";
import { collectionRows } from "./rows-collections.js";
import { errorRows } from "./rows-errors.js";
import { functionRows } from "./rows-functions.js";
import { iterationRows } from "./rows-iteration.js";
import { objectRows } from "./rows-objects.js";
import { primitiveRows } from "./rows-primitives.js";
import { slotRows } from "./rows-slots.js";

/**
 * A row has
 *
 * - `group`, `name`
 * - `make`: the source of an expression, in strict code, that makes the value
 * - `probe`: the source of a function of the value and the kit, whose answer is looked
 *   at besides what reflection tells; it may be a promise
 * - `change`: the source of a function of the value that changes it
 * - `life`: "data" stays readable after its sandbox is gone, "behaviour" is refused
 * - `bare`: reflection is left out, and only the probe looks
 * - `from`: "guest" when only a guest's value has to look so
 * - `brand`: it has internal slots, so nobody's copy of it is live
 * - `clones`: `structuredClone` takes it
 */
export const valueRows = [
  ...primitiveRows,
  ...objectRows,
  ...slotRows,
  ...collectionRows,
  ...bufferRows,
  ...errorRows,
  ...functionRows,
  ...classRows,
  ...iterationRows,
];
