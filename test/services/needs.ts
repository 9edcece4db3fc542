import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PROGRAMS, SERVICE_NAMES, type ServiceName } from './programs.ts';

/** The list itself names everything and needs nothing. */
const LIST = join(import.meta.dirname, 'programs.ts');

/**
 * What a test file asks for: the keys of the list that it names, itself or in the files that it imports by a relative
 * path. A package's test names its keys itself, since it does not import from `test/`.
 */
export function needsOf(file: string): readonly ServiceName[] {
  const texts = textsOf(file, new Map());
  return SERVICE_NAMES.filter((service) =>
    [...texts.values()].some((text) => text.includes(PROGRAMS[service].key)),
  );
}

function textsOf(file: string, known: Map<string, string>): Map<string, string> {
  if (known.has(file) || file === LIST || !existsSync(file)) return known;
  const text = readFileSync(file, 'utf8');
  known.set(file, text);
  for (const [, path = ''] of text.matchAll(/(?:from|import\()\s*'(\.[^']+\.ts)'/g)) {
    textsOf(join(dirname(file), path), known);
  }
  return known;
}
