import { describe, expect, it } from "vitest";
import _ from "lodash";

describe("collections", () => {
  const users = [{ name: "Ada", age: 36 }, { name: "Bob", age: 41 }, { name: "Cy", age: 36 }];
  it("hands out the caller's own objects", () => expect(_.filter(users, { age: 36 })[0]).toBe(users[0]));
  it("groups", () => expect(_.groupBy(users, "age")).toEqual({ 36: [users[0], users[2]], 41: [users[1]] }));
  it("sorts by several keys", () => expect(_.map(_.orderBy(users, ["age", "name"], ["desc", "desc"]), "name")).toEqual(["Bob", "Cy", "Ada"]));
  it("reduces with a callback", () => expect(_.sumBy(users, (user) => user.age)).toBe(113));
  it("chains", () => expect(_(users).map("name").reverse().value()).toEqual(["Cy", "Bob", "Ada"]));
  it("changes the caller's array", () => {
    const list = [1, 2, 3, 2];
    _.pull(list, 2);
    expect(list).toEqual([1, 3]);
  });
});

describe("objects", () => {
  it("clones deeply", () => {
    const one = { a: { when: new Date(0), list: new Map([[1, { b: 2 }]]) } };
    const two = _.cloneDeep(one);
    expect(two).toEqual(one);
    expect(two.a).not.toBe(one.a);
  });
  it("merges", () => expect(_.merge({ a: [{ b: 1 }] }, { a: [{ c: 2 }] })).toEqual({ a: [{ b: 1, c: 2 }] }));
  it("reads paths", () => expect(_.get({ a: [{ b: { c: 3 } }] }, "a[0].b.c")).toBe(3));
  it("writes paths", () => {
    const made = {};
    expect(_.set(made, "a[0].b", 1)).toBe(made);
    expect(made).toEqual({ a: [{ b: 1 }] });
  });
  it("tells kinds apart", () => expect([_.isPlainObject({}), _.isDate(new Date()), _.isRegExp(/x/), _.isMap(new Map()), _.isPlainObject(new (class A {})())]).toEqual([true, true, true, true, false]));
  it("compares", () => expect(_.isEqual({ a: new Set([1, [2]]) }, { a: new Set([1, [2]]) })).toBe(true));
});

describe("functions", () => {
  it("memoizes", () => {
    let calls = 0;
    const twice = _.memoize((n) => (calls++, n * 2));
    expect([twice(2), twice(2), calls]).toEqual([4, 4, 1]);
  });
  it("curries", () => expect(_.curry((a, b, c) => a + b + c)(1)(2)(3)).toBe(6));
  it("compiles a template", () => expect(_.template("Hello <%- name %>")({ name: "A & B" })).toBe("Hello A &amp; B"));
});
