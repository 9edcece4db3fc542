import childProcess, { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, delimiter, join, resolve, sep } from 'node:path';
import { listNeeds } from './needs.ts';
import { LISTED, removeFromPath } from './program-folder.ts';
import { ALWAYS_THERE, NODE_PROGRAMS, PROGRAMS, SERVICE_NAMES } from './programs.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** The decision about a test's attempt to start a program. */
export type StartDecision =
  | { readonly kind: 'listed' }
  /** The test must not find it, as if it were not installed. */
  | { readonly kind: 'switched-off' }
  | { readonly kind: 'unlisted'; readonly message: string };

/** Programs that no machine has, for tests of missing programs. */
const MISSING_ON_PURPOSE = /^no-such-/;

/**
 * Decides whether a test may start a program, by its name or path. `path` is the PATH of the new
 * process, where a test may have put its own doubles.
 */
export function judgeStart(
  file: string,
  env: NodeJS.ProcessEnv = process.env,
  path: string = env.PATH ?? '',
): StartDecision {
  const name = basename(file);
  if (file === process.execPath || MISSING_ON_PURPOSE.test(name)) return { kind: 'listed' };
  const places = file.includes('/')
    ? [resolve(file)]
    : path.split(delimiter).map((folder) => join(folder, file));
  if (places.some((place) => isOurs(place) && existsSync(place))) return { kind: 'listed' };
  for (const service of SERVICE_NAMES) {
    const { variable, names, beside = [] }: ListedProgram = PROGRAMS[service];
    if (env[variable] === file) return { kind: 'listed' };
    if (![...names, ...beside].includes(name)) continue;
    return { kind: env[variable] === 'none' ? 'switched-off' : 'listed' };
  }
  if ([...ALWAYS_THERE, ...NODE_PROGRAMS].includes(name)) return { kind: 'listed' };
  const message = `A test starts ${file}, which is not in the list of test/services/programs.ts. Add it there with how to install it, ask for it with inject(…), and skip the test where it is missing.`;
  return { kind: 'unlisted', message };
}

/**
 * Whether the program was installed by npm or written by a test; the folder of listed programs
 * contains the machine's programs.
 */
function isOurs(place: string): boolean {
  if (place.includes(`${sep}${LISTED}`)) return false;
  return [ROOT, tmpdir()].some((folder) => place.startsWith(`${folder}${sep}`));
}

interface ListedProgram {
  readonly variable: string;
  readonly names: readonly string[];
  readonly beside?: readonly string[];
}

/** Node's internal options: `envPairs` are `NAME=value`. */
interface SpawnOptions {
  readonly file: unknown;
  readonly envPairs?: readonly string[];
}

const STARTS = Symbol.for('parley.unlisted-starts');

/**
 * Checks each program that this process starts, and returns the list of refused starts, since a
 * test may have ignored the error. Installed once, because the files of a worker share the process.
 * What a shell or another process starts is limited by the PATH of `useListedPrograms` instead.
 */
function checkStarts(): string[] {
  const known: unknown = Reflect.get(globalThis, STARTS);
  if (Array.isArray(known)) return known;
  const refused: string[] = [];
  Reflect.set(globalThis, STARTS, refused);
  const checked = (file: unknown, path: string | undefined): unknown => {
    if (typeof file !== 'string') return file;
    const start = judgeStart(file, process.env, path);
    if (start.kind === 'unlisted') {
      refused.push(start.message);
      throw new Error(start.message);
    }
    return start.kind === 'listed' ? file : `/nonexistent/${basename(file)}`;
  };
  // Every asynchronous start ends up in this method, including those of libraries. Node's types
  // omit it.
  const spawn: unknown = Reflect.get(ChildProcess.prototype, 'spawn');
  if (typeof spawn !== 'function') throw new Error('ChildProcess has no method spawn any more.');
  const spawnChecked = function (this: ChildProcess, options: SpawnOptions): unknown {
    const path = options.envPairs?.find((pair) => pair.startsWith('PATH='))?.slice('PATH='.length);
    return spawn.call(this, { ...options, file: checked(options.file, path) });
  };
  Reflect.set(ChildProcess.prototype, 'spawn', spawnChecked);
  for (const name of ['spawnSync', 'execFileSync'] as const) {
    const start: unknown = Reflect.get(childProcess, name);
    if (typeof start !== 'function') continue;
    const startChecked = (file: unknown, ...rest: { env?: NodeJS.ProcessEnv }[]): unknown =>
      start(checked(file, rest.at(-1)?.env?.PATH), ...rest);
    Reflect.set(childProcess, name, startChecked);
  }
  syncBuiltinESMExports();
  return refused;
}

const WHOLE = Symbol.for('parley.programs-of-the-run');

/** What the files of a run may use before a file is restricted to its own list. */
interface WholeRun {
  readonly path: string;
  readonly switches: readonly (readonly [string, string | undefined])[];
}

/**
 * Switches off each program that this test file does not declare, as if it were not installed. A
 * test that needs a program without declaring it thus fails in every run, not only on a machine
 * that lacks it. Files share a process.
 */
export function disableUndeclared(file: string): void {
  const known: WholeRun | undefined = Reflect.get(globalThis, WHOLE);
  const whole = known ?? {
    path: process.env.PATH ?? '',
    switches: SERVICE_NAMES.map((name) => {
      const { variable } = PROGRAMS[name];
      return [variable, process.env[variable]] as const;
    }),
  };
  Reflect.set(globalThis, WHOLE, whole);
  for (const [variable, value] of whole.switches) {
    if (value === undefined) delete process.env[variable];
    else process.env[variable] = value;
  }
  const asked = listNeeds(file);
  const unasked = SERVICE_NAMES.filter((name) => !asked.includes(name));
  for (const name of unasked) process.env[PROGRAMS[name].variable] = 'none';
  process.env.PATH = removeFromPath(whole.path, unasked);
}

/** Returns the starts that were refused since the last call, and clears the list. */
export function takeRefusedStarts(): string[] {
  return checkStarts().splice(0);
}

checkStarts();
