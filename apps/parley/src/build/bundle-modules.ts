import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';

/**
 * Modules that are loaded by name: the bin, plugins, threads and processes. The keys are the names
 * in the bundle.
 */
const ENTRIES = {
  main: 'apps/parley/src/main.ts',
  index: 'apps/parley/src/index.ts',
  'check-thread': 'packages/core/src/json-schema/check-thread.ts',
  'watchdog-thread': 'apps/parley/src/watchdog/watchdog-thread.ts',
  'page-thread': 'packages/tools/src/web/page-thread.ts',
  'document-process': 'packages/tools/src/documents/document-process.ts',
  'picture-process': 'packages/tools/src/documents/picture-process.ts',
  plugins: 'packages/plugins/src/index.ts',
  // The exports of package.json: `parley/plugin` and `parley/testing`.
  plugin: 'packages/plugins/src/public.ts',
  testing: 'apps/parley/src/plugin-testing/index.ts',
  agent: 'packages/agent/src/index.ts',
  channels: 'packages/channels/src/index.ts',
  core: 'packages/core/src/index.ts',
  prompt: 'packages/prompt/src/index.ts',
  workspace: 'packages/workspace/src/index.ts',
  zod: 'zod',
  // Modules loaded synchronously on first use, with `require`.
  'adapter-facts': 'packages/channel-chat-sdk/src/adapter-facts.ts',
  'find-hosted': 'packages/channel-chat-sdk/src/find-hosted.ts',
  'decode-bytes': 'packages/core/src/encoding/decode-bytes.ts',
  'json-schema': 'packages/settings/src/json-schema.ts',
  render: 'packages/markup/src/render.ts',
  'tools-sandbox': 'packages/tools/src/sandbox/index.ts',
  'tools-web': 'packages/tools/src/web/index.ts',
};

/**
 * Libraries that are loaded on first use: the Redis library and the scripts that BullMQ requires
 * (half a megabyte), the encoding detector (larger), and zod's messages in other languages, which
 * only plugins may need.
 */
const LATE = {
  ioredis: 'late:ioredis',
  'bullmq-scripts': 'late:bullmq-scripts',
  jschardet: 'late:jschardet',
  'zod-locales': 'late:zod-locales',
};
/** The paths of the entries in `LATE` that are not packages. */
const LATE_MODULES: Readonly<Record<string, string>> = {
  'bullmq-scripts': './node_modules/bullmq/dist/cjs/scripts/index.js',
  'zod-locales': 'zod/v4/locales',
};

/**
 * Optional packages of an installation, loaded on first use: the platforms' libraries, image
 * processing and tracing.
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

/** Optional dependencies of libraries that Parley does not install. */
const ABSENT = ['@napi-rs/canvas', 'bufferutil', 'pg-native', 'utf-8-validate'];

/**
 * Each module that is imported on first use gets a separate file. Names are kept for stack traces.
 * Source maps are read only under `node --enable-source-maps`.
 */
export async function bundleModules(
  root: string,
  outdir: string,
): Promise<Pick<Metafile, 'inputs'>> {
  const own = await build({
    ...createBuildOptions(root, outdir),
    entryPoints: { ...ENTRIES, ...LATE },
    splitting: true,
    // CommonJS libraries load Node's built-in modules with `require`.
    banner: {
      js: "import{createRequire as makeRequire}from'node:module';const require=makeRequire(import.meta.url);",
    },
    plugins: [bundledRequire, lateLibraries, libraryApart],
  });
  const apart = await build({
    ...createBuildOptions(root, outdir),
    entryPoints: { [APART]: APART },
  });
  return { inputs: { ...own.metafile.inputs, ...apart.metafile.inputs } };
}

/**
 * The Chat SDK parses Markdown with the same libraries as Parley. If it were part of the same
 * build, the shared modules would get a file that also contains code that only one of the two
 * needs, and every message would load it.
 */
const APART = 'chat';

const libraryApart: Plugin = {
  name: 'library-apart',
  setup({ onResolve }) {
    onResolve({ filter: /^chat$/ }, () => ({ path: `./${APART}.mjs`, external: true }));
  },
};

function createBuildOptions(root: string, outdir: string) {
  return {
    absWorkingDir: root,
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    define: { PARLEY_BUNDLE: 'true', PARLEY_COMMIT: JSON.stringify(findCommit(root)) },
    external: [...OPTIONAL, ...ABSENT],
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    sourcemap: 'linked',
    sourcesContent: false,
    metafile: true,
    logLevel: 'error',
    tsconfigRaw: {},
  } satisfies BuildOptions;
}

/**
 * Returns the commit of the sources, with `+` if there are local changes. Without a repository, as
 * in a container image, the variable PARLEY_COMMIT is used; the result is empty if it is not set.
 */
export function findCommit(root: string, env: NodeJS.ProcessEnv = process.env): string {
  const git = (...args: readonly string[]): string | null => {
    const { status, stdout } = spawnSync('git', args, {
      cwd: root,
      encoding: 'utf8',
      timeout: GIT_MS,
    });
    return status === 0 ? stdout.trim() : null;
  };
  const given = env.PARLEY_COMMIT ?? '';
  // A repository that merely contains an installed package is not the Parley repository.
  if (given !== '' || git('rev-parse', '--show-prefix') !== '') return given;
  const commit = git('rev-parse', '--short=12', 'HEAD') ?? '';
  const isChanged =
    git('status', '--porcelain', '--', 'apps', 'packages', 'package-lock.json') !== '';
  return commit !== '' && isChanged ? `${commit}+` : commit;
}

/**
 * The deadline (ms) for git. Git is slow if the repository is on a network drive; after the
 * deadline, the build continues without a commit.
 */
const GIT_MS = 5_000;

const MAKES_REQUIRE = /^const require = createRequire\(import\.meta\.url\);$/m;

/**
 * Keeps `require` calls in the sources lazy: the required Parley modules get separate files, and
 * libraries are left unchanged.
 */
const bundledRequire: Plugin = {
  name: 'bundled-require',
  setup({ onLoad, onResolve, initialOptions }) {
    onResolve({ filter: /^(@parley\/|\.)/ }, ({ kind, path, importer }) => {
      // The path is relative to the root, because a folder above the root may also be called
      // `apps`.
      const from = relative(initialOptions.absWorkingDir ?? '', importer);
      if (kind !== 'require-call' || !/^(apps|packages)\//.test(from)) return undefined;
      const name = path.replace(/^(@parley|\.)\/|\.ts$/g, '').replaceAll('/', '-');
      if (Object.hasOwn(ENTRIES, name)) return { path: `./${name}.mjs`, external: true };
      return { errors: [{ text: `${path} is required but is not an entry of the bundle.` }] };
    });
    onLoad({ filter: /\/(apps|packages)\/.*\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8');
      if (!source.includes('createRequire(')) return undefined;
      const contents = source
        .replace(MAKES_REQUIRE, '')
        .replace('createRequire(import.meta.url)(', 'require(');
      // A `require` from another package's location is resolved at run time, so it is allowed.
      const others = contents.replaceAll('createRequire(import.meta.resolve(', '');
      if (!others.includes('createRequire(')) return { contents, loader: 'ts' };
      return {
        errors: [{ text: `${path} calls require in a form that the build does not support.` }],
      };
    });
  },
};

/**
 * Gives each lazily loaded library a separate file, from which `require` returns the library's own
 * exports.
 */
const lateLibraries: Plugin = {
  name: 'late-libraries',
  setup({ onLoad, onResolve, initialOptions }) {
    onResolve({ filter: /^late:/ }, ({ path }) => ({ path: path.slice(5), namespace: 'late' }));
    onLoad({ filter: /.*/, namespace: 'late' }, ({ path }) => {
      const library = LATE_MODULES[path] ?? path;
      return {
        // `require` returns the whole module, because the default import of BullMQ's scripts would
        // be undefined.
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
    // Removes BullMQ’s PostgreSQL queues, because Parley's queues are in Redis or SQLite.
    onLoad({ filter: /bullmq\/dist\/cjs\/postgres\/index\.js$/ }, () => ({
      contents: 'module.exports = {};',
    }));
    // Removes the unused part of gray-matter's YAML parser that would load a JavaScript parser.
    onLoad({ filter: /js-yaml\/type\/js\/function\.js$/ }, ({ path }) => ({
      contents: replacePassages(path, [["esprima = _require('esprima');", '']]),
    }));
  },
};

/** Reads a library's file and replaces passages in it. Throws when a passage is missing. */
function replacePassages(
  path: string,
  changes: readonly (readonly [from: string, to: string])[],
): string {
  return changes.reduce(
    (text, [from, to]) => {
      if (!text.includes(from)) throw new Error(`${path} no longer contains ${from}.`);
      return text.replace(from, to);
    },
    readFileSync(path, 'utf8'),
  );
}
