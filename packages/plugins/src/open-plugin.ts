import { readFile, realpath, stat } from 'node:fs/promises';
import { registerHooks } from 'node:module';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runWithTimeLimit, TimeUpError } from '@parley/agent';
import { type Clock, Defects, type Logger, reasonOf } from '@parley/core';
import { INSTALLATION, isBundle } from '@parley/core/installation';
import { z } from 'zod';
import { guardChannel, guardSource, withResultValidation } from './guard-parts.ts';
import {
  checkOptions,
  checkParts,
  getExportedPlugin,
  type LoadedParts,
  type Plugin,
  type PluginChoice,
  PluginError,
  type PluginErrorCode,
} from './plugin.ts';

interface OpenPluginDeps {
  /** The folder of the settings file. */
  readonly base: string;
  /**
   * The agent's workspace. No plugin code is loaded from the workspace, because the agent can write
   * to it.
   */
  readonly workspace: string;
  readonly log: Logger;
  readonly clock: Clock;
  /** Called with the location of the code before the code runs. */
  readonly onFound: (place: { readonly use: string; readonly folder: string }) => void;
  /** The time limit, in ms, for the import and, separately, for the setup. */
  readonly patienceMs: number;
}

/** A plugin that was imported but not set up yet. */
export interface ImportedPlugin {
  readonly plugin: Plugin;
  readonly folder: string;
}

/** Finds and imports a plugin. Throws PluginError if that fails. */
export async function importPlugin(
  { use }: PluginChoice,
  { base, workspace, onFound, patienceMs }: OpenPluginDeps,
): Promise<ImportedPlugin> {
  const { folder, entry } = await findPlugin(use, base);
  await assertOutsideWorkspace(workspace, [folder, entry]);
  onFound({ use, folder });
  const module = await runPluginCode(
    'plugin-import',
    'it cannot be loaded',
    patienceMs,
    () => import(pathToFileURL(entry).href),
  );
  return { plugin: getExportedPlugin(Object(module)), folder };
}

/** Sets up a plugin and returns its parts. Throws PluginError if the setup fails. */
export async function setUpPlugin(
  { plugin, folder }: ImportedPlugin,
  { options }: PluginChoice,
  { log, clock, patienceMs }: OpenPluginDeps,
): Promise<{
  readonly parts: LoadedParts;
  readonly left: readonly string[];
  readonly defects: Defects;
}> {
  const checked = checkOptions(plugin, options);
  const named = log.child({ plugin: plugin.name });
  const given = await runPluginCode('plugin-setup', 'its setup failed', patienceMs, (signal) =>
    plugin.setup(checked, { log: named, clock, folder, signal }),
  );
  const { tools = [], skills = [], layers = [], hooks = [], ...rest } = checkParts(given);
  const { channels = [], sources = [] } = rest;
  const folders = await Promise.all(skills.map((skill) => checkSkillFolder(skill, folder)));
  const defects = new Defects({
    clock,
    onDefect: (defect) => named.error({ ...defect }, 'a plugin broke its contract'),
  });
  const checkedParts = withResultValidation({ tools, layers, hooks, sources }, defects);
  const parts = {
    tools: checkedParts.tools,
    skills: folders.flatMap(({ path, isThere }) => (isThere ? [path] : [])),
    layers: checkedParts.layers,
    hooks: checkedParts.hooks,
    channels: channels.map((channel) => guardChannel(channel)),
    sources: checkedParts.sources.map((source) => guardSource(source)),
  };
  const left = folders.flatMap(({ path, isThere }) =>
    isThere ? [] : [`the skills in ${path}: there is no such folder`],
  );
  return { parts, left, defects };
}

async function assertOutsideWorkspace(workspace: string, paths: readonly string[]): Promise<void> {
  // A workspace that does not exist yet cannot contain a plugin.
  const real = await realpath(workspace).catch(() => resolve(workspace));
  if (!paths.some((path) => !/^\.\.(\/|$)/.test(relative(real, path)))) return;
  throw new PluginError(
    'plugin-location',
    `it is inside the workspace ${real}, where the agent itself can write. Move it elsewhere.`,
  );
}

/** Runs a plugin's own code, and converts any failure to a PluginError that names the step. */
async function runPluginCode<Result>(
  code: PluginErrorCode,
  what: string,
  ms: number,
  work: (signal: AbortSignal) => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await runWithTimeLimit({ ms }, async (signal) => work(signal));
  } catch (error) {
    const why = error instanceof TimeUpError ? 'plugin-timeout' : code;
    throw new PluginError(why, `${what}: ${reasonOf(error)}`, error);
  }
}

async function checkSkillFolder(skill: string, folder: string) {
  const path = isAbsolute(skill) ? skill : resolve(folder, skill);
  try {
    return { path, isThere: (await stat(path)).isDirectory() };
  } catch {
    return { path, isThere: false }; // Skills in an unreadable folder are treated as missing.
  }
}

/** The location of a plugin: its folder and the file to import, both real paths. */
interface FoundPlugin {
  readonly folder: string;
  readonly entry: string;
}

const Target = z.union([
  z.string(),
  z.looseObject({ import: z.unknown().optional(), default: z.unknown().optional() }),
]);
const Manifest = z.looseObject({ exports: z.unknown().optional(), main: z.string().optional() });

/** The entry files that are tried when package.json names none. */
const USUAL = ['index.ts', 'index.js', 'index.mjs', 'src/index.ts'];

/**
 * Finds the plugin that the settings name: a folder (`./dice`, `/srv/dice`, `~/dice`, relative to
 * `base`) or an installed package. A package is searched for from `base` upwards and then from
 * Parley itself. Throws PluginError if there is no such plugin.
 */
async function findPlugin(use: string, base: string): Promise<FoundPlugin> {
  const folder = isFolder(use)
    ? resolve(base, use.replace(/^~(?=\/|$)/, homedir()))
    : await findPackageFolder(use, base);
  if (!(await fileExists(folder))) {
    throw new PluginError('plugin-missing', `there is no folder ${folder}. Fix the path.`);
  }
  const entry = await findEntryFile(folder);
  // Node does not load code below node_modules as TypeScript, so symbolic links are resolved.
  return { folder: await realpath(folder), entry: await realpath(entry) };
}

function isFolder(use: string): boolean {
  return /^(\.{1,2}(\/|$)|\/|~)/.test(use);
}

async function findPackageFolder(name: string, base: string): Promise<string> {
  if (/^(@[\w.~-]+\/)?[\w~-][\w.~-]*$/.test(name)) {
    for (const start of [resolve(base), import.meta.dirname]) {
      for (let at = start; ; at = dirname(at)) {
        const folder = join(at, 'node_modules', name);
        if (await fileExists(folder)) return folder;
        if (at === dirname(at)) break;
      }
    }
  }
  const folder = resolve(base, name);
  const hint = (await fileExists(folder))
    ? `Write ./${name} for the folder ${folder}`
    : 'Install it';
  throw new PluginError('plugin-missing', `no package "${name}" is installed. ${hint}.`);
}

async function findEntryFile(folder: string): Promise<string> {
  const named = await readPackageEntry(join(folder, 'package.json'));
  const candidates = named === undefined ? USUAL : [named];
  for (const candidate of candidates) {
    const file = join(folder, candidate);
    if (await fileExists(file)) return file;
  }
  throw new PluginError(
    'plugin-missing',
    `there is nothing to load in ${folder}. It needs ${candidates.join(' or ')}.`,
  );
}

/**
 * Returns the file that package.json names: `exports`, otherwise `main`; undefined if it names
 * none.
 */
async function readPackageEntry(file: string): Promise<string | undefined> {
  if (!(await fileExists(file))) return undefined;
  try {
    const { exports, main } = Manifest.parse(JSON.parse(await readFile(file, 'utf8')));
    const root = z.looseObject({ '.': z.unknown() }).safeParse(exports);
    return getExportTarget(root.success ? root.data['.'] : exports) ?? main;
  } catch (error) {
    throw new PluginError(
      'plugin-import',
      `${file} is not a package.json. Fix or remove it.`,
      error,
    );
  }
}

function getExportTarget(written: unknown): string | undefined {
  const parsed = Target.safeParse(written);
  if (!parsed.success) return undefined;
  const { data } = parsed;
  return typeof data === 'string'
    ? data
    : (getExportTarget(data.import) ?? getExportTarget(data.default));
}

async function fileExists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false; // A package whose package.json cannot be read cannot be loaded either.
  }
}

/** The module for authors of plugins, whose types are published. */
const PUBLIC = 'parley/plugin';
/**
 * The packages that plugins can import even if their own folder has no node_modules. The bundle
 * contains a module for each package.
 */
const SHARED: ReadonlySet<string> = new Set([
  PUBLIC,
  '@parley/plugins',
  '@parley/agent',
  '@parley/channels',
  '@parley/core',
  '@parley/prompt',
  '@parley/workspace',
  'zod',
]);

/**
 * After this call, code anywhere on this machine can import Parley's packages and zod, as if they
 * were installed next to it. A plugin's own copy takes precedence. The hook is never removed,
 * because plugins import some of their modules only when they are used.
 */
export function sharePackages(): void {
  registerHooks({
    resolve(specifier, context, next) {
      if (!SHARED.has(specifier)) return next(specifier, context);
      // A plugin may be linked to another installation, which provides its types.
      if (specifier === PUBLIC) return { url: publicModule(), shortCircuit: true };
      try {
        const found = next(specifier, context);
        if (!isBundle || !isParleyModule(found.url)) return found;
      } catch {
        if (!isBundle) return next(specifier, { ...context, parentURL: import.meta.url });
      }
      const name = specifier.replace('@parley/', '');
      return { url: new URL(`./${name}.mjs`, import.meta.url).href, shortCircuit: true };
    },
  });
}

const publicModule = (): string =>
  new URL(isBundle ? './plugin.mjs' : './public.ts', import.meta.url).href;

/**
 * Whether a module belongs to Parley. If the sources are next to the bundle, a plugin must not load
 * a second copy of modules that already run.
 */
function isParleyModule(url: string): boolean {
  const { href } = INSTALLATION;
  return ['packages/', 'node_modules/zod/'].some((folder) => url.startsWith(`${href}${folder}`));
}
