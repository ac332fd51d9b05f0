// Builtins that outlive the clock: the engine asks between bytecodes and in regular
// expressions only. What ends them is the end of the thread that they run on.
export const unstoppable = [
  "Array.prototype.reverse.call({ length: 2 ** 53 - 1 })",
  "Array.prototype.join.call({ length: 2 ** 31 })",
  "JSON.stringify(new Array(3e7))",
  "Array.from({ length: 1e8 })",
  "'ab'.repeat(1e7).split('').map(Number).join().split('').reverse()",
  "[].concat(...Array.from({ length: 100 }, () => new Array(1e6).fill(0)))",
];
