// Measures what a person who edits a policy of many libraries waits for: from
// textDocument/didChange to the diagnostics of that version, with everything cached,
// and how much memory the server takes meanwhile.
//
//   node edits.mjs path/to/sandbox-lsp project [edits]
//
// The project is not changed: the edits stay in the editor's document.
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [binary, project, edits = "200"] = process.argv.slice(2);
const root = resolve(project);
const file = join(root, ".sandbox", readdirSync(join(root, ".sandbox")).find((name) => name.startsWith("sandbox.config.")));
const uri = String(pathToFileURL(file));
let text = readFileSync(file, "utf8");

const server = spawn(resolve(binary), ["serve", "--stdio"], { stdio: ["pipe", "pipe", "ignore"] });
const waiting = new Map(); // by request id
const published = new Map(); // by document version, whoever waits for it
let received = Buffer.alloc(0);

function send(message) {
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  server.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

let lastId = 0;
function request(method, params) {
  const id = ++lastId;
  send({ id, method, params });
  return new Promise((done) => waiting.set(id, done));
}

server.stdout.on("data", (chunk) => {
  received = Buffer.concat([received, chunk]);
  for (;;) {
    const end = received.indexOf("\r\n\r\n");
    if (end < 0) return;
    const length = Number(/Content-Length: (\d+)/i.exec(received.toString("latin1", 0, end))[1]);
    if (received.length < end + 4 + length) return;
    const message = JSON.parse(received.toString("utf8", end + 4, end + 4 + length));
    received = received.subarray(end + 4 + length);
    if (message.method && message.id !== undefined) send({ id: message.id, result: null });
    else if (message.id !== undefined) waiting.get(message.id)?.(message.result);
    else if (message.method === "textDocument/publishDiagnostics" && message.params.uri === uri) {
      published.get(message.params.version)?.(message.params.diagnostics);
    }
  }
});

const versions = (version) => new Promise((done) => published.set(version, done));

// peak returns the largest resident size in MiB of a process and its children.
function peak(pid) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const own = Number(/VmHWM:\s+(\d+)/.exec(status)[1]) / 1024;
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").trim().split(" ").filter(Boolean));
  return { server: Math.round(own), workers: children.map((child) => Math.round(peak(child).server)) };
}

await request("initialize", { processId: process.pid, rootUri: String(pathToFileURL(root)), capabilities: {} });
send({ method: "initialized", params: {} });
const opened = versions(1);
send({ method: "textDocument/didOpen", params: { textDocument: { uri, languageId: "javascript", version: 1, text } } });
await opened;
await request("workspace/executeCommand", { command: "sandbox-lsp.build", arguments: [uri] }); // a complete check, and its results cached

// Each edit types one character into a comment of another library, at random.
let seed = 2026;
const random = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
const lines = text.split("\n").length;
const took = [];
for (let version = 2; version < 2 + Number(edits); version++) {
  const line = 2 + random(lines - 3);
  const done = versions(version);
  const began = process.hrtime.bigint();
  send({
    method: "textDocument/didChange",
    params: { textDocument: { uri, version }, contentChanges: [{ range: { start: { line, character: 0 }, end: { line, character: 0 } }, text: " " }] },
  });
  await done;
  took.push(Number(process.hrtime.bigint() - began) / 1e6);
}
took.sort((a, b) => a - b);
const at = (share) => Math.round(took[Math.min(took.length - 1, Math.floor(share * took.length))] * 10) / 10;
const libraries = (text.match(/permissions: \[/g) ?? []).length;
console.log(JSON.stringify({ edits: took.length, libraries, msToDiagnostics: { p50: at(0.5), p95: at(0.95), max: at(1) }, peakMiB: peak(server.pid) }));
await request("shutdown");
send({ method: "exit" });
