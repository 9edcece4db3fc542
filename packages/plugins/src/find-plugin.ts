import { readFile, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { PluginError } from './plugin-error.ts';

/** Where a plugin is: its folder and the file to import, both real paths. */
export interface FoundPlugin {
  readonly folder: string;
  readonly entry: string;
}

const Target = z.union([
  z.string(),
  z.looseObject({ import: z.unknown().optional(), default: z.unknown().optional() }),
]);
const Manifest = z.looseObject({ exports: z.unknown().optional(), main: z.string().optional() });

/** What is tried in a folder that does not say. */
const USUAL = ['index.ts', 'index.js', 'index.mjs', 'src/index.ts'];

/**
 * Finds what the settings name: a folder (`./dice`, `/srv/dice`, `~/dice`, seen from `base`), or an
 * installed package, looked for from `base` upwards and then from Parley itself. Throws PluginError.
 */
export async function findPlugin(use: string, base: string): Promise<FoundPlugin> {
  const folder = isFolder(use)
    ? resolve(base, use.replace(/^~(?=\/|$)/, homedir()))
    : await packageFolder(use, base);
  if (!(await exists(folder))) {
    throw new PluginError('plugin-missing', `there is no folder ${folder}. Mend the path.`);
  }
  const entry = await entryOf(folder);
  // The real path: code below node_modules would not be read as TypeScript.
  return { folder: await realpath(folder), entry: await realpath(entry) };
}

function isFolder(use: string): boolean {
  return /^(\.{1,2}(\/|$)|\/|~)/.test(use);
}

async function packageFolder(name: string, base: string): Promise<string> {
  if (/^(@[\w.~-]+\/)?[\w~-][\w.~-]*$/.test(name)) {
    for (const start of [resolve(base), import.meta.dirname]) {
      for (let at = start; ; at = dirname(at)) {
        const folder = join(at, 'node_modules', name);
        if (await exists(folder)) return folder;
        if (at === dirname(at)) break;
      }
    }
  }
  const folder = resolve(base, name);
  const hint = (await exists(folder)) ? `Write ./${name} for the folder ${folder}` : 'Install it';
  throw new PluginError('plugin-missing', `no package "${name}" is installed. ${hint}.`);
}

async function entryOf(folder: string): Promise<string> {
  const named = await namedEntry(join(folder, 'package.json'));
  const candidates = named === undefined ? USUAL : [named];
  for (const candidate of candidates) {
    const file = join(folder, candidate);
    if (await exists(file)) return file;
  }
  throw new PluginError(
    'plugin-missing',
    `there is nothing to load in ${folder}. It needs ${candidates.join(' or ')}.`,
  );
}

/** The file that package.json names: `exports`, else `main`; undefined where it names none. */
async function namedEntry(file: string): Promise<string | undefined> {
  if (!(await exists(file))) return undefined;
  try {
    const { exports, main } = Manifest.parse(JSON.parse(await readFile(file, 'utf8')));
    const root = z.looseObject({ '.': z.unknown() }).safeParse(exports);
    return target(root.success ? root.data['.'] : exports) ?? main;
  } catch (error) {
    throw new PluginError(
      'plugin-import',
      `${file} is not a package.json. Mend or remove it.`,
      error,
    );
  }
}

function target(written: unknown): string | undefined {
  const parsed = Target.safeParse(written);
  if (!parsed.success) return undefined;
  const { data } = parsed;
  return typeof data === 'string' ? data : (target(data.import) ?? target(data.default));
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false; // Whatever keeps it from being seen keeps it from being loaded.
  }
}
