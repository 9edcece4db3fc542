import { chmodSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve, sep } from 'node:path';
import { findProgram } from './find-program.ts';
import { ALWAYS_THERE, NODE_PROGRAMS, PROGRAMS, SERVICE_NAMES } from './programs.ts';

/** How the folders with the listed programs are called. */
export const LISTED = 'parley-listed-';
const ROOT = resolve(import.meta.dirname, '../..');

/**
 * Gives this process, and those that it starts, a PATH with the listed programs alone, until the returned
 * function is called. What a test, its shell or a Parley that it runs starts beyond the list is then missing on
 * every machine, and so is a program that was switched off.
 */
export function useListedPrograms(): () => void {
  const before = process.env.PATH ?? '';
  const folders = before.split(delimiter).filter((folder) => folder !== '');
  const isOurs = (folder: string): boolean => folder.startsWith(`${ROOT}${sep}`);
  // Of npm's scripts: the Node that runs the tests is first there, too.
  const ours = folders.filter(isOurs);
  const path = folders.filter((folder) => !isOurs(folder)).join(delimiter);
  const folder = mkdtempSync(join(tmpdir(), LISTED));
  // Servers run as another user, and are started from here.
  chmodSync(folder, 0o755);
  for (const [name, target] of listed(path)) symlinkSync(target, join(folder, name));
  process.env.PATH = [...ours, folder].join(delimiter);
  return () => {
    process.env.PATH = before;
    rmSync(folder, { recursive: true, force: true });
  };
}

/** The listed programs that this machine has, by name. */
function listed(path: string): Map<string, string> {
  const found = new Map<string, string>();
  const add = (name: string, folders: readonly string[] = []): void => {
    const program = findProgram({ names: [name], folders, variable: '' }, { PATH: path });
    if ('path' in program) found.set(name, program.path);
  };
  for (const name of [...ALWAYS_THERE, ...NODE_PROGRAMS]) add(name);
  for (const service of SERVICE_NAMES) {
    const { names, beside = [] }: { names: readonly string[]; beside?: readonly string[] } =
      PROGRAMS[service];
    const program = findProgram(PROGRAMS[service], { ...process.env, PATH: path });
    const [name] = names;
    if (!('path' in program) || name === undefined) continue;
    found.set(name, program.path);
    for (const other of beside) add(other, [dirname(realpathSync(program.path))]);
  }
  return found;
}
