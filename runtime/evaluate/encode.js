// Encodes what a policy module exports as JSON that keeps apart what JSON would
// blur: undefined, functions, special numbers, values that no option takes. The
// intrinsics are taken before the policy runs, so that it cannot replace them.
(() => {
  const { isArray } = Array;
  const { keys } = Object;
  const { stringify } = JSON;
  const tagOf = Function.prototype.call.bind(Object.prototype.toString);
  const slice = Function.prototype.call.bind(String.prototype.slice);
  const apply = Reflect.apply;
  const push = Array.prototype.push;
  const pop = Array.prototype.pop;
  const indexOf = Array.prototype.indexOf;
  const join = Array.prototype.join;
  const text = String;
  const failure = RangeError;

  return (module, limit) => {
    const path = [];
    let size = 0;
    const count = (piece) => {
      size += piece.length;
      if (size > limit) throw new failure("the exported value is too large for a policy");
      return piece;
    };
    const encode = (value) => {
      switch (typeof value) {
        case "string":
          return count('{"t":"string","v":' + stringify(value) + "}");
        case "number":
          return count('{"t":"number","v":"' + (value === Infinity ? "+Inf" : value === -Infinity ? "-Inf" : text(value)) + '"}');
        case "boolean":
          return count('{"t":"boolean","v":' + text(value) + "}");
        case "undefined":
          return '{"t":"undefined"}';
        case "function":
          return '{"t":"function"}';
        case "object":
          break;
        default:
          return '{"t":"a ' + typeof value + '"}';
      }
      if (value === null) return '{"t":"null"}';
      if (apply(indexOf, path, [value]) >= 0) return '{"t":"an object that contains itself"}';
      if (path.length > 64) throw new failure("the exported value is nested too deeply for a policy");
      const array = isArray(value);
      const tag = tagOf(value);
      if (!array && tag !== "[object Object]") return count('{"t":' + stringify("a " + slice(tag, 8, -1)) + "}");
      apply(push, path, [value]);
      const names = [];
      const parts = [];
      if (array) {
        if (value.length > limit / 16) throw new failure("the exported value is too large for a policy");
        for (let i = 0; i < value.length; i++) parts[i] = encode(value[i]);
      } else {
        const own = keys(value);
        for (let i = 0; i < own.length; i++) {
          names[i] = count(stringify(own[i]));
          parts[i] = encode(value[own[i]]);
        }
      }
      apply(pop, path, []);
      return array
        ? count('{"t":"array","p":[' + apply(join, parts, [","]) + "]}")
        : count('{"t":"object","k":[' + apply(join, names, [","]) + '],"p":[' + apply(join, parts, [","]) + "]}");
    };
    let value = module;
    // An ES module, or transpiled code that says it was one, exports its default.
    if (value && typeof value === "object" && (value.__esModule || "default" in value) && "default" in value) value = value.default;
    else if (value && typeof value === "object" && value.__esModule) value = undefined;
    if (value && typeof value.then === "function") return '{"t":"a promise; a policy has to be there at once"}';
    return encode(value);
  };
})()
