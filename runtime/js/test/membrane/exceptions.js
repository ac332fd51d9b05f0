// What no membrane can do, and the clause of ECMAScript that says so.

/** Each names what differs; its row is not in the table. At most three. */
export const exceptions = [
  {
    what: "Function.prototype.toString.call(f) with a function of the other realm gives NativeFunction, not its source; String(f) and f.toString() give the source",
    clause: "ECMA-262, 20.2.3.5 Function.prototype.toString, step 4: a callable object without [[SourceText]]",
  },
];
