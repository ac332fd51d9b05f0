// The hooks of esbuild, whose own file loader says where an asset is.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { buildPolicy } from "./plugin-policy.js";
import { assetName, Redirects, withAssets } from "./plugin-redirect.js";

const ASSET = "sandbox-lsp-asset";

export function esbuildHooks(options) {
  return { esbuild: { setup: (build) => setup(build, options) } };
}

function setup(build, options) {
  let policy;
  let redirects;

  build.onStart(async () => {
    // What it throws esbuild shows as an error of the plugin's.
    policy = undefined;
    redirects = undefined;
    policy = await buildPolicy(options, build.initialOptions.absWorkingDir ?? process.cwd());
    if (policy.errors.length === 0) redirects = new Redirects(policy);
    return { errors: policy.errors.map(messageOf), warnings: policy.warnings.map(messageOf) };
  });

  // A build that fails reads nothing else whose change would start the next one.
  build.onResolve({ filter: /./ }, async ({ path: request, kind, resolveDir, pluginData }) => {
    if (kind !== "entry-point" || redirects || !policy || pluginData === ASSET) return undefined;
    return { ...(await build.resolve(request, { kind, resolveDir, pluginData: ASSET })), watchFiles: policy.watched };
  });

  build.onResolve({ filter: /^[^./]/ }, ({ path: request, importer, kind, namespace }) => {
    if (request.startsWith(`${ASSET}:`)) {
      const file = request.slice(ASSET.length + 1);
      return { path: path.join(path.dirname(file), assetName(file)), namespace: ASSET, pluginData: { file } };
    }
    // That there are no workloads then is no news.
    if (!redirects) return request.startsWith("sandbox-workload/") ? { path: request, external: true } : undefined;
    if (!/^(import-statement|dynamic-import|require-call|entry-point)$/.test(kind)) return undefined;
    const answer = redirects.answer(request, namespace === "file" && importer ? importer : undefined, { required: kind === "require-call" });
    if (answer?.error) return { errors: [{ text: answer.error }] };
    if (answer?.warning) return { warnings: [{ text: answer.warning }] };
    return answer?.proxy && { path: answer.proxy };
  });

  build.onLoad({ filter: /./, namespace: ASSET }, async ({ pluginData: { file } }) => ({ contents: await readFile(file), loader: "file", watchFiles: [file] }));

  build.onLoad({ filter: /-proxy\.js$/ }, async ({ path: file }) => {
    if (!redirects?.isProxy(file)) return undefined;
    const imports = [];
    const urlOf = (asset) => {
      imports.push(`import asset${imports.length} from ${JSON.stringify(`${ASSET}:${asset}`)}; `);
      return `new URL(asset${imports.length - 1}, import.meta.url)`;
    };
    const code = withAssets(await readFile(file, "utf8"), file, urlOf);
    return { contents: code.replace(/^import /m, `${imports.join("")}import `), loader: "js", watchFiles: [file, ...policy.watched] };
  });
}

const messageOf = ({ text, code, file, line, column, length }) => ({ id: code, text, location: { file, line, column, length } });
