import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';

/** Modules that something names: the bin, plugins, threads and processes. By their names in the bundle. */
const ENTRIES = {
  main: 'apps/parley/src/main.ts',
  index: 'apps/parley/src/index.ts',
  'check-thread': 'packages/core/src/json-schema/check-thread.ts',
  'watchdog-thread': 'apps/parley/src/watchdog/watchdog-thread.ts',
  'page-thread': 'packages/tools/src/web/page-thread.ts',
  'document-process': 'packages/tools/src/documents/document-process.ts',
  'picture-process': 'packages/tools/src/documents/picture-process.ts',
  plugins: 'packages/plugins/src/index.ts',
  agent: 'packages/agent/src/index.ts',
  channels: 'packages/channels/src/index.ts',
  core: 'packages/core/src/index.ts',
  prompt: 'packages/prompt/src/index.ts',
  workspace: 'packages/workspace/src/index.ts',
  zod: 'zod',
  // Loaded at their first use, and at once (`require`).
  'decode-bytes': 'packages/core/src/encoding/decode-bytes.ts',
  render: 'packages/markup/src/render.ts',
  'tools-sandbox': 'packages/tools/src/sandbox/index.ts',
  'tools-web': 'packages/tools/src/web/index.ts',
};

/**
 * Modules that are loaded late: those that BullMQ requires with Redis, the library and its scripts, which are half a
 * megabyte; the detector of encodings, which is more; and the messages of zod in other languages, which only a plugin
 * may want.
 */
const LATE = {
  ioredis: 'late:ioredis',
  'bullmq-scripts': 'late:bullmq-scripts',
  jschardet: 'late:jschardet',
  'zod-locales': 'late:zod-locales',
};
/** The modules behind late names that no package has. */
const LATE_MODULES: Readonly<Record<string, string>> = {
  'bullmq-scripts': './node_modules/bullmq/dist/cjs/scripts/index.js',
  'zod-locales': 'zod/v4/locales',
};

/**
 * The optional packages of an installation: the platforms' libraries, pictures, traces. Each is loaded at its first
 * use.
 */
const OPTIONAL = [
  '@opentelemetry/*',
  '@whiskeysockets/baileys',
  'bullmq-otel',
  'discord.js',
  'libsignal',
  'sharp',
  'telegraf',
];

/** Asked for by libraries if they are installed, which Parley does not do. */
const ABSENT = ['@napi-rs/canvas', 'bufferutil', 'pg-native', 'utf-8-validate'];

/**
 * Writes the bundle: what is imported when it is used lies in files of its own. Names stay, for stack
 * traces; the maps are read by `node --enable-source-maps` alone.
 */
export async function bundleModules(root: string, outdir: string): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { ...ENTRIES, ...LATE },
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    define: { PARLEY_BUNDLE: 'true', PARLEY_COMMIT: JSON.stringify(commitOf(root)) },
    // CommonJS libraries ask for Node's own modules.
    banner: {
      js: "import{createRequire as makeRequire}from'node:module';const require=makeRequire(import.meta.url);",
    },
    external: [...OPTIONAL, ...ABSENT],
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    sourcemap: 'linked',
    sourcesContent: false,
    metafile: true,
    logLevel: 'error',
    tsconfigRaw: {},
    plugins: [bundledRequire, lateLibraries],
  });
  return metafile;
}

/**
 * The commit of the sources, with `+` where they were changed since; empty where this is no repository of its own, as
 * in an image, unless the variable PARLEY_COMMIT says it.
 */
export function commitOf(root: string, env: NodeJS.ProcessEnv = process.env): string {
  const git = (...args: readonly string[]): string | null => {
    const { status, stdout } = spawnSync('git', args, {
      cwd: root,
      encoding: 'utf8',
      timeout: GIT_MS,
    });
    return status === 0 ? stdout.trim() : null;
  };
  const given = env.PARLEY_COMMIT ?? '';
  // A repository around an installed package is another one's.
  if (given !== '' || git('rev-parse', '--show-prefix') !== '') return given;
  const commit = git('rev-parse', '--short=12', 'HEAD') ?? '';
  const isChanged =
    git('status', '--porcelain', '--', 'apps', 'packages', 'package-lock.json') !== '';
  return commit !== '' && isChanged ? `${commit}+` : commit;
}

/** A repository that takes longer is on a network; the build goes on without its commit. */
const GIT_MS = 5_000;

const MAKES_REQUIRE = /^const require = createRequire\(import\.meta\.url\);$/m;

/** Keeps a source's `require` late: a module of ours in a file of its own, a library as it is used. */
const bundledRequire: Plugin = {
  name: 'bundled-require',
  setup({ onLoad, onResolve, initialOptions }) {
    onResolve({ filter: /^(@parley\/|\.)/ }, ({ kind, path, importer }) => {
      // Seen from the root: a folder above it may be called `apps`, too.
      const from = relative(initialOptions.absWorkingDir ?? '', importer);
      if (kind !== 'require-call' || !/^(apps|packages)\//.test(from)) return undefined;
      const name = path.replace(/^(@parley|\.)\/|\.ts$/g, '').replaceAll('/', '-');
      if (Object.hasOwn(ENTRIES, name)) return { path: `./${name}.mjs`, external: true };
      return { errors: [{ text: `${path} is required and is no entry of the bundle.` }] };
    });
    onLoad({ filter: /\/(apps|packages)\/.*\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8');
      if (!source.includes('createRequire(')) return undefined;
      const contents = source
        .replace(MAKES_REQUIRE, '')
        .replace('createRequire(import.meta.url)(', 'require(');
      if (!contents.includes('createRequire(')) return { contents, loader: 'ts' };
      return {
        errors: [{ text: `${path} makes a require in a form that the build does not know.` }],
      };
    });
  },
};

/** A file of its own for each, which `require` gives as the library itself would be. */
const lateLibraries: Plugin = {
  name: 'late-libraries',
  setup({ onLoad, onResolve, initialOptions }) {
    onResolve({ filter: /^late:/ }, ({ path }) => ({ path: path.slice(5), namespace: 'late' }));
    onLoad({ filter: /.*/, namespace: 'late' }, ({ path }) => {
      const library = LATE_MODULES[path] ?? path;
      return {
        // `require` gives the whole; a default import is undefined for BullMQ's scripts, which have none.
        contents: `const it = require('${library}'); export { it as 'module.exports' };`,
        resolveDir: initialOptions.absWorkingDir ?? '',
      };
    });
    onResolve(
      { filter: /^(ioredis|bullmq-scripts|jschardet|zod-locales)$/ },
      ({ kind, path, importer }) =>
        kind === 'require-call' && /\/(?:bullmq|zod|core\/src\/encoding)\//.test(importer)
          ? { path: `./${path}.mjs`, external: true }
          : undefined,
    );
    onLoad({ filter: /bullmq\/dist\/cjs\/classes\/redis-connection\.js$/ }, ({ path }) => ({
      contents: replacePassages(path, [
        ['const scripts = require("../scripts");', ''],
        ['providedScripts || scripts;', 'providedScripts || require("bullmq-scripts");'],
      ]),
    }));
    onLoad({ filter: /zod\/v4\/(?:classic\/external|core\/index)\.js$/ }, ({ path }) => ({
      contents: replacePassages(path, [
        [
          'export * as locales from "../locales/index.js";',
          'export const locales = new Proxy({}, { get: (_, name) => require("zod-locales")[name] });',
        ],
      ]),
    }));
    // BullMQ’s queues in PostgreSQL: Parley has them in Redis or SQLite.
    onLoad({ filter: /bullmq\/dist\/cjs\/postgres\/index\.js$/ }, () => ({
      contents: 'module.exports = {};',
    }));
    // Of gray-matter, whose own way to read YAML is never used: this part would load a parser of JavaScript.
    onLoad({ filter: /js-yaml\/type\/js\/function\.js$/ }, ({ path }) => ({
      contents: replacePassages(path, [["esprima = _require('esprima');", '']]),
    }));
  },
};

/** The text of a library's file with a replaced passage, which must be in it. */
function replacePassages(
  path: string,
  changes: readonly (readonly [from: string, to: string])[],
): string {
  return changes.reduce(
    (text, [from, to]) => {
      if (!text.includes(from)) throw new Error(`${path} has no ${from} any more.`);
      return text.replace(from, to);
    },
    readFileSync(path, 'utf8'),
  );
}
