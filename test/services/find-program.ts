import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { ServiceStart } from './provided.ts';

/** Where to look for a program: what it may be called, and folders beyond the PATH. */
export type ProgramSearch = {
  readonly names: readonly string[];
  readonly folders: readonly string[];
  /** The environment variable by which a person names the program, or `none` to do without. */
  readonly variable: string;
};

/**
 * The path of an executable, or the reason why there is none. A program named in the environment
 * is the only candidate, so that a wrong name is noticed and `none` switches a service off.
 */
export function findProgram(
  search: ProgramSearch,
  environment: NodeJS.ProcessEnv = process.env,
): { readonly path: string } | { readonly reason: string } {
  const named = environment[search.variable];
  if (named !== undefined && named !== '') {
    return isExecutable(named)
      ? { path: named }
      : { reason: `${search.variable}=${named} is not an executable file` };
  }
  const folders = [...(environment.PATH ?? '').split(delimiter), ...search.folders];
  for (const name of search.names) {
    for (const folder of folders) {
      const path = join(folder, name);
      if (folder !== '' && isExecutable(path)) return { path };
    }
  }
  return { reason: `found no ${search.names.join(', ')} on the PATH` };
}

/** A program that tests start themselves, as a service. */
export async function findService(search: ProgramSearch): Promise<ServiceStart> {
  const found = findProgram(search);
  if ('reason' in found) return { state: 'missing', reason: found.reason };
  return { state: 'ready', value: found.path, stop: async () => undefined };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
