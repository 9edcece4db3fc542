import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { z } from 'zod';

/** What a start has loaded. */
export interface LoadedModules {
  /** URLs of files, in the order in which they were loaded. */
  readonly files: readonly string[];
  /** Node’s own modules, its inner ones too: `NativeModule internal/…`. */
  readonly ofNode: readonly string[];
}

const Loaded = z.object({ files: z.array(z.string()), ofNode: z.array(z.string()) });

/** Starts Parley in a data folder, stops it, and tells every module that was loaded. */
export async function loadedByStart(data: string): Promise<LoadedModules> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', START, data],
    { cwd: import.meta.dirname, maxBuffer: 16 * 1_024 * 1_024 },
  );
  return Loaded.parse(JSON.parse(stdout.split('\n').at(-1) ?? ''));
}

const START = `
import { registerHooks } from 'node:module';
const files = [];
registerHooks({ load(url, context, next) { files.push(url); return next(url, context); } });
const { locateDataFolder, startParley } = await import('@parley/cli');
const folder = locateDataFolder(process.argv[1], {});
const quiet = { write() {} };
const parley = await startParley({ folder, env: {}, clock: Date.now, pass() {}, logTo: quiet });
const ofNode = process.moduleLoadList;
await parley.close();
process.stdout.write(JSON.stringify({ files, ofNode }), () => process.exit());
`;
