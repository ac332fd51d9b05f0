// What no membrane can do, and the clause of ECMAScript that says so.

/** Each names what differs; its row is not in the table. At most three. */
export const exceptions = [
  {
    what: "Function.prototype.toString.call(f) with a function of the other realm gives NativeFunction, not its source; String(f) and f.toString() give the source",
    clause: "ECMA-262, 20.2.3.5 Function.prototype.toString, step 4: a callable object without [[SourceText]]",
  },
  {
    what: "a WeakMap, WeakSet of the other realm shows its methods as properties of its own, so that they ask its owner; what is put in by WeakMap.prototype.set.call stays in the realm that did it",
    clause:
      "ECMA-262, 24.3.3 and 24.4.3: the methods of the prototype read [[WeakMapData]] and [[WeakSetData]] of a local object, whose members cannot be listed",
  },
  {
    what: "an arguments object of a sloppy function crosses as a strict one, whose callee throws",
    clause:
      "ECMA-262, 11.2.2: module code is strict, so that no module can make the other kind without compiling text; and 10.4.4.6 step 7: a strict one's callee cannot be defined anew",
  },
];
