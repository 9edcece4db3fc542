import { SERVICE_NAMES, type ServiceName } from './programs.ts';

/** Programs that are switched off together, and the test files that need one of them. */
export interface ProgramGroup {
  readonly services: readonly ServiceName[];
  readonly files: readonly string[];
}

/**
 * Groups the programs so that no file needs two of a group: switching a group off then has the same
 * effect on each file as switching off the one program it needs, and a file runs no more often than
 * it needs programs. Switching all programs off together would not do: a test that declares one
 * program but starts two would be skipped.
 */
export function groupPrograms(
  needs: ReadonlyMap<string, readonly ServiceName[]>,
): readonly ProgramGroup[] {
  const groups: { services: ServiceName[]; files: Set<string> }[] = [];
  for (const service of SERVICE_NAMES) {
    const files = [...needs].filter(([, asked]) => asked.includes(service)).map(([file]) => file);
    if (files.length === 0) continue;
    const free = groups.find((group) => !files.some((file) => group.files.has(file)));
    const group = free ?? { services: [], files: new Set<string>() };
    if (free === undefined) groups.push(group);
    group.services.push(service);
    for (const file of files) group.files.add(file);
  }
  return groups.map(({ services, files }) => ({ services, files: [...files] }));
}
