import { readFileSync } from 'node:fs';
import { PROGRAMS, SERVICE_NAMES, type ServiceName } from './programs.ts';

/**
 * The services that a test file needs: the keys of the list that it names. A test names its keys
 * itself, even when a helper uses them.
 */
export function listNeeds(file: string): readonly ServiceName[] {
  const text = readFileSync(file, 'utf8');
  return SERVICE_NAMES.filter((service) => text.includes(PROGRAMS[service].key));
}
