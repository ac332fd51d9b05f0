// Narrows a granted global to what the rules of its `allow` list. Which rules there are,
// and what each means, is the policy's to say (its check reads them by the same grammar);
// here they are enforced, on the host's side, where guest code cannot reach.
import { SandboxError } from "./errors.js";

const ports = { "http:": "80", "https:": "443", "ws:": "80", "wss:": "443" };
const MAX_REDIRECTS = 20; // of the Fetch standard, section 4.4 (HTTP-redirect fetch)

/**
 * The rules of a global as one test: of addresses in their written-out form (URL.href), or
 * of keys. A SandboxError where it cannot be narrowed, or not by these.
 */
export function rulesOf(name, allow) {
  if (!Array.isArray(allow) || !allow.every((rule) => typeof rule === "string")) throw new SandboxError(`the permission ${name}: \`allow\` is a list of texts`);
  switch (name) {
    case "fetch":
    case "WebSocket": {
      const rules = allow.map((text) => addressRule(name, text));
      return (href) => rules.some((matches) => matches(href));
    }
    case "history":
    case "location":
    case "navigator":
    case "performance":
    case "process":
    case "screen":
      return members(name, allow);
    case "localStorage":
    case "sessionStorage":
      return (key) => allow.some((rule) => (rule.endsWith("*") ? key.startsWith(rule.slice(0, -1)) : rule !== "" && key === rule));
  }
  throw new SandboxError(`the permission ${name} is narrowed by \`allow\`, but there are no rules for it; grant the whole of it by name, or none`);
}

/** What the guest gets in place of a host's value that is narrowed. */
export function narrow(name, value, allowed) {
  if (allowed.members) return narrowMembers(value, allowed.members);
  if (name === "fetch") return narrowFetch(value, allowed);
  return name === "WebSocket" ? narrowWebSocket(value, allowed) : narrowStorage(name, value, allowed);
}

// Addresses.

/** A rule as a test of addresses in their written-out form (URL.href). */
function addressRule(name, text) {
  const [, scheme, wild, host, path = "/*"] = /^([a-z]+:)\/\/(\*\.)?(\*|[^/?#*]+)(\/[^?#]*)?$/.exec(text) ?? [];
  if (scheme === undefined || !(scheme in ports))
    throw new SandboxError(`the permission ${name}: ${JSON.stringify(text)} is no address such as "https://api.example.com/*"`);
  const server = new URL(`${scheme}//${host === "*" ? "any" : host}`);
  const prefix = path.endsWith("*");
  const wanted = prefix ? path.slice(0, -1) : path;
  return (href) => {
    const url = new URL(href);
    if (
      url.protocol !== scheme ||
      url.username !== "" ||
      /[%*]/.test(url.hostname) ||
      url.password !== "" ||
      portOf(url) !== portOf(server) ||
      climbs(url.pathname)
    )
      return false;
    if (host !== "*") {
      const below = url.hostname.length > server.hostname.length + 1 && url.hostname.endsWith(`.${server.hostname}`);
      const same = wild ? below : url.hostname === server.hostname;
      if (!same) return false;
    }
    return prefix ? url.pathname.startsWith(wanted) : url.pathname === wanted;
  };
}

const portOf = (url) => url.port || ports[url.protocol];

/** How often over a path may be escaped. */
const MAX_ESCAPES = 4;

/**
 * Whether a server might read a path in another way: a segment of dots, half an escape.
 * Servers and the proxies before them undo escapes more than once, and some put what
 * stands behind a semicolon aside.
 */
function climbs(path) {
  if (/%(?![\da-f]{2})/i.test(path)) return true;
  const escaped = /%[0-7][\da-f]/gi; // a character of ASCII
  let plain = path;
  for (let n = 0; plain.search(escaped) >= 0; n++) {
    if (n === MAX_ESCAPES) return true;
    plain = plain.replace(escaped, (text) => String.fromCharCode(Number.parseInt(text.slice(1), 16)));
  }
  return plain.split(/[/\\]/).some((segment) => /^\.\.?(;|$)/.test(segment));
}

function refused(name, href) {
  return new TypeError(`${name} of ${href} is not allowed: the policy narrows ${name} to other addresses`);
}

// A redirect is a new address, so each is compared before it is followed.
function narrowFetch(fetch, allowed) {
  return async (input, init) => {
    // It reads what it is given once; what is compared is what is sent.
    let request = new Request(input, init);
    const follows = request.redirect === "follow";
    for (let hops = 0; ; hops++) {
      if (!allowed(request.url)) throw refused("fetch", request.url);
      const again = follows && request.body ? request.clone() : request;
      const response = await Reflect.apply(fetch, globalThis, [follows ? new Request(request, { redirect: "manual" }) : request]);
      if (!follows) return response;
      if (response.type === "opaqueredirect")
        throw new TypeError(`fetch of ${request.url} is redirected, and this host does not say where to, so it cannot be compared with the policy`);
      const location = response.status >= 301 && response.status <= 308 && response.headers.get("location");
      if (!location) return response;
      if (hops === MAX_REDIRECTS) throw new TypeError(`fetch of ${request.url} is redirected too often`);
      request = await redirected(again, response.status, new URL(location, request.url));
    }
  };
}

/** The request that follows a redirect (Fetch standard, section 4.4). */
async function redirected(request, status, url) {
  const { credentials, cache, integrity, keepalive, mode, referrer, referrerPolicy, signal } = request;
  const headers = new Headers(request.headers);
  let { method } = request;
  let body;
  if ((status === 303 && method !== "HEAD") || (status <= 302 && method === "POST")) {
    method = "GET";
    for (const name of ["content-encoding", "content-language", "content-location", "content-type", "content-length"]) headers.delete(name);
  } else if (request.body) {
    body = await request.arrayBuffer();
  }
  if (new URL(request.url).origin !== url.origin) headers.delete("authorization");
  const common = { method, headers, body, credentials, cache, integrity, keepalive, referrer, referrerPolicy, signal };
  // A page's navigations have a mode that nobody else may ask for.
  return new Request(url, mode === "navigate" ? common : { ...common, mode });
}

// Its prototype stays, so that instances are what they were; whoever looks up the
// constructor there gets this one.
function narrowWebSocket(Original, allowed) {
  function WebSocket(address, protocols) {
    if (!new.target) throw new TypeError("WebSocket is a constructor: use new");
    const url = new URL(address, globalThis.location?.href);
    url.protocol = url.protocol.replace(/^http/, "ws");
    if (!allowed(url.href)) throw refused("WebSocket", url.href);
    return Reflect.construct(Original, protocols === undefined ? [url.href] : [url.href, protocols], new.target === WebSocket ? Original : new.target);
  }
  Object.defineProperty(WebSocket, "prototype", { value: Original.prototype, writable: false });
  for (const state of ["CONNECTING", "OPEN", "CLOSING", "CLOSED"]) Object.defineProperty(WebSocket, state, { value: Original[state], enumerable: true });
  return WebSocket;
}

// Members.

/** A test of members, which also lists them. */
function members(name, allow) {
  for (const member of allow) {
    // Those of every object say nothing of this one.
    if (!/^[A-Za-z_$][\w$]*$/.test(member) || member in Object.prototype)
      throw new SandboxError(`the permission ${name}: ${JSON.stringify(member)} is no member of it, such as "language" of navigator`);
  }
  return Object.assign((member) => allow.includes(member), { members: new Set(allow) });
}

/** An object that has the named members of another, and leads nowhere else. */
function narrowMembers(value, members) {
  const shown = Object.create(null);
  for (const member of members) {
    let method; // and what stands for it
    Object.defineProperty(shown, member, {
      enumerable: true,
      get() {
        const found = value[member];
        if (typeof found !== "function") return found;
        if (method?.of !== found) method = { of: found, bound: (...args) => Reflect.apply(found, value, args) };
        return method.bound;
      },
    });
  }
  return Object.freeze(shown);
}

// Keys.

function narrowStorage(name, storage, allowed) {
  const visible = () => Array.from({ length: storage.length }, (_, i) => storage.key(i)).filter((key) => allowed(key));
  const check = (key) => {
    const text = String(key);
    if (!allowed(text)) throw new TypeError(`the key ${JSON.stringify(text)} of ${name} is not allowed: the policy narrows it to other keys`);
    return text;
  };
  const methods = {
    getItem: (key) => (allowed(String(key)) ? storage.getItem(String(key)) : null),
    setItem: (key, value) => storage.setItem(check(key), String(value)),
    removeItem: (key) => storage.removeItem(check(key)),
    clear: () => {
      for (const key of visible()) storage.removeItem(key);
    },
    key: (index) => visible()[Number(index) >>> 0] ?? null,
    get length() {
      return visible().length;
    },
  };
  // Entries are properties as well, as they are of every storage, and nothing else is its
  // own: methods are inherited, and hide the entries of their names.
  const entry = (key) => (typeof key === "string" && !(key in methods) && allowed(key) ? storage.getItem(key) : null);
  return new Proxy(Object.create(Object.freeze(methods)), {
    get: (_, key) => (key in methods ? methods[key] : (entry(key) ?? undefined)),
    set: (_, key, value) => {
      storage.setItem(check(key), String(value));
      return true;
    },
    has: (_, key) => key in methods || entry(key) !== null,
    deleteProperty: (_, key) => {
      if (!(key in methods)) storage.removeItem(check(key));
      return true;
    },
    defineProperty: () => false,
    ownKeys: () => visible().filter((key) => !(key in methods)),
    getOwnPropertyDescriptor: (_, key) => {
      const value = entry(key);
      return value === null ? undefined : { value, writable: true, enumerable: true, configurable: true };
    },
  });
}
