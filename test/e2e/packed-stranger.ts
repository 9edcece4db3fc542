import { execFile, spawn } from 'node:child_process';
import { mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { findProgram } from '../services/find-program.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** The only programs on the machine of the simulated user, besides the system. */
const PROGRAMS = ['node', 'npm', 'npx', 'sh', 'env'];

/** The home folder of a user who has only Node, npm and the packed release. */
export interface StrangerFolder {
  readonly folder: string;
  /** Runs a program in a subfolder and rejects with its output if it fails. */
  run(below: string, program: string, ...args: readonly string[]): Promise<string>;
  /** Runs a program with an input, such as `parley chat` reads. */
  ask(input: string, program: string, ...args: readonly string[]): Promise<string>;
}

/**
 * @param node the Node of the simulated machine; by default the current one, which may be too old
 * for Parley
 */
export function openStranger(folder: string, node?: string): StrangerFolder {
  const [home, bin] = [join(folder, 'home'), join(folder, 'bin')];
  for (const path of [home, bin]) mkdirSync(path, { recursive: true });
  for (const name of PROGRAMS) {
    const path = name === 'node' && node !== undefined ? node : findProgramPath(name);
    symlinkSync(realpathSync(path), join(bin, name));
  }
  const env = { ...getRegistrySettings(), PATH: bin, HOME: home, NO_COLOR: '1' };
  const start = async (cwd: string, program: string, args: readonly string[], input = '') => {
    const child = spawn(join(bin, program), args, { cwd, env });
    child.stdin.end(input);
    const ended = new Promise((end) => child.once('close', end));
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
    if ((await ended) === 0) return out;
    throw new Error(`${program} ${args.join(' ')} failed:\n${out}${err}`);
  };
  return {
    folder,
    run: (below, program, ...args) => start(join(folder, below), program, args),
    ask: (input, program, ...args) => start(folder, program, args, input),
  };
}

function findProgramPath(name: string): string {
  const path = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((one) => !one.includes('node_modules'));
  const found = findProgram({ names: [name], variable: '' }, { PATH: path.join(delimiter) });
  if ('reason' in found) throw new Error(`${name}: ${found.reason}`);
  return found.path;
}

/** The registry settings and the npm cache of this machine. */
function getRegistrySettings(): Record<string, string | undefined> {
  const names =
    /^(https?_proxy|no_proxy|node_extra_ca_certs|ssl_cert_(file|dir)|npm_config_registry)$/i;
  return {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => names.test(name))),
    ...{ npm_config_cache: join(homedir(), '.npm'), npm_config_prefer_offline: 'true' },
    ...{ npm_config_userconfig: join(homedir(), '.npmrc'), npm_config_audit: 'false' },
  };
}

/** Creates links where `npm install` would install packages. */
export function linkPackages(folder: string, packages: Readonly<Record<string, string>>): void {
  for (const [name, path] of Object.entries(packages)) {
    const link = join(folder, 'node_modules', name);
    mkdirSync(join(link, '..'), { recursive: true });
    symlinkSync(path, link);
  }
}

/** The packages of this repository that a compiler needs outside it. */
export const COMPILED_WITH: Readonly<Record<string, string>> = Object.fromEntries(
  ['@types/node', 'undici-types', 'chat'].map((name) => [name, join(ROOT, 'node_modules', name)]),
);

/** Compiles the files of a project and returns the compiler output, which is empty on success. */
export async function compileProject(folder: string): Promise<string> {
  const compiler = join(ROOT, 'node_modules/.bin/tsc');
  return new Promise((done) => {
    execFile(compiler, ['-p', folder, '--strict'], (_error, out, err) => done(out + err));
  });
}
