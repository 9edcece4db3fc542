import { readFileSync } from 'node:fs';
import { PROGRAMS, SERVICE_NAMES, type ServiceName } from './programs.ts';

/** What a test file asks for: the keys of the list that it names. A test names its keys itself, also where a helper uses them. */
export function needsOf(file: string): readonly ServiceName[] {
  const text = readFileSync(file, 'utf8');
  return SERVICE_NAMES.filter((service) => text.includes(PROGRAMS[service].key));
}
