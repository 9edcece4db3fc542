import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join, resolve, sep } from 'node:path';
import { findProgram } from './find-program.ts';
import {
  ALWAYS_THERE,
  NODE_PROGRAMS,
  PROGRAMS,
  SERVICE_NAMES,
  type ServiceName,
} from './programs.ts';

/** The name prefix of folders with the listed programs. */
export const LISTED = 'parley-listed-';
const ROOT = resolve(import.meta.dirname, '../..');

/**
 * Gives this process and its children a PATH with only the listed programs, until the returned
 * function is called. Any other program is then missing on every machine, for the test, its shell
 * and a Parley that it runs; so is a program that was switched off.
 */
export function useListedPrograms(): () => void {
  const before = process.env.PATH ?? '';
  const folders = before.split(delimiter).filter((folder) => folder !== '');
  const isOurs = (folder: string): boolean => folder.startsWith(`${ROOT}${sep}`);
  // The folders of npm's scripts; the Node that runs the tests comes first there, too.
  const ours = folders.filter(isOurs);
  const path = folders.filter((folder) => !isOurs(folder)).join(delimiter);
  const root = mkdtempSync(join(tmpdir(), LISTED));
  const parts = [
    { name: ALWAYS, programs: listStandardPrograms(path) },
    ...SERVICE_NAMES.map((name) => ({ name, programs: listServicePrograms(path, name) })),
  ];
  const made = parts.map(({ name, programs }) => {
    const folder = join(root, name);
    mkdirSync(folder);
    for (const [program, target] of programs) symlinkSync(target, join(folder, program));
    return folder;
  });
  // Servers run as another user, and are started from here.
  for (const folder of [root, ...made]) chmodSync(folder, 0o755);
  process.env.PATH = [...ours, ...made].join(delimiter);
  return () => {
    process.env.PATH = before;
    rmSync(root, { recursive: true, force: true });
  };
}

/** The folder with the programs that every test finds. */
const ALWAYS = 'always';

/** A PATH of `useListedPrograms` without the programs of these services. */
export function removeFromPath(path: string, services: readonly ServiceName[]): string {
  const isLeft = (folder: string): boolean =>
    !folder.includes(`${sep}${LISTED}`) || !services.some((name) => basename(folder) === name);
  return path.split(delimiter).filter(isLeft).join(delimiter);
}

type ProgramPaths = ReadonlyMap<string, string>;

/** The POSIX and Node programs on this machine, by name. */
function listStandardPrograms(path: string): ProgramPaths {
  return findPrograms(path, [...ALWAYS_THERE, ...NODE_PROGRAMS]);
}

/** The program of a service under its first name, and its companions. */
function listServicePrograms(path: string, service: ServiceName): ProgramPaths {
  const { names, beside = [] }: { names: readonly string[]; beside?: readonly string[] } =
    PROGRAMS[service];
  const program = findProgram(PROGRAMS[service], { ...process.env, PATH: path });
  const [name] = names;
  if (!('path' in program) || name === undefined) return new Map();
  const others = findPrograms(path, beside, [dirname(realpathSync(program.path))]);
  return new Map([[name, program.path], ...others]);
}

function findPrograms(
  path: string,
  names: readonly string[],
  folders: readonly string[] = [],
): ProgramPaths {
  return new Map(
    names.flatMap((name) => {
      const program = findProgram({ names: [name], folders, variable: '' }, { PATH: path });
      return 'path' in program ? [[name, program.path]] : [];
    }),
  );
}
