import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import { getBundleModule } from '../services/bundle.ts';

/** The modules loaded during startup. */
export interface LoadedModules {
  /** File URLs in load order. */
  readonly files: readonly string[];
  /** Paths of the sources from which the loaded files were built. */
  readonly sources: readonly string[];
  /** The total size of the loaded files, in bytes. */
  readonly size: number;
  /** Node’s own modules, including internal ones: `NativeModule internal/…`. */
  readonly ofNode: readonly string[];
}

const Loaded = z.object({ files: z.array(z.string()), ofNode: z.array(z.string()) });
const SourceMap = z.object({ sources: z.array(z.string()) });

/** Starts Parley in a data folder, stops it, and returns every loaded module. */
export function listModulesOfStart(data: string): Promise<LoadedModules> {
  return listLoadedModules(START, getBundleModule('index'), data);
}

/** Runs a command on a data folder without a gateway, and returns every loaded module. */
export function listModulesOfCommand(data: string, ...args: string[]): Promise<LoadedModules> {
  return listLoadedModules(COMMAND, getBundleModule('main'), '--data', data, ...args);
}

async function listLoadedModules(script: string, ...args: string[]): Promise<LoadedModules> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', `${RECORD}\n${script}`, ...args],
    { cwd: import.meta.dirname, maxBuffer: 16 * 1_024 * 1_024 },
  );
  const { files, ofNode } = Loaded.parse(JSON.parse(stdout.split('\n').at(-1) ?? ''));
  const paths = files.map((url) => fileURLToPath(url));
  const size = paths.reduce((sum, path) => sum + readFileSync(path).length, 0);
  return { files, ofNode, size, sources: paths.flatMap((path) => readSources(path)) };
}

/** The source map of a bundle file lists its sources. */
function readSources(path: string): readonly string[] {
  if (!existsSync(`${path}.map`)) return [path];
  return SourceMap.parse(JSON.parse(readFileSync(`${path}.map`, 'utf8'))).sources;
}

const RECORD = `
import { registerHooks } from 'node:module';
const files = [];
registerHooks({ load(url, context, next) { if (url.startsWith('file:')) files.push(url); return next(url, context); } });
const [, bundle, ...args] = process.argv;
const quiet = { write() {} };
`;

const COMMAND = `
const { main } = await import(bundle);
await main(args, { stdout: quiet, stderr: quiet });
const ofNode = process.moduleLoadList;
process.stdout.write(JSON.stringify({ files, ofNode }), () => process.exit());
`;

const START = `
const { locateDataFolder, startParley } = await import(bundle);
const folder = locateDataFolder(args[0], {});
const monotonic = () => performance.now();
const time = { clock: Date.now, monotonic, random: Math.random };
const parley = await startParley({ folder, env: {}, ...time, checkpoint() {}, logTo: quiet });
const ofNode = process.moduleLoadList;
await parley.close();
process.stdout.write(JSON.stringify({ files, ofNode }), () => process.exit());
`;
