import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Removes machine-specific names from text. */
export interface NameReplacements {
  generalize(text: string): string;
}

/**
 * Files that are dumped, recreated at startup, written for each test, or copied from elsewhere by a
 * test.
 */
const LEFT_OUT = /^(parley\.(yaml|db(-wal|-shm)?)|lock|lock-journal|logs?|plugins)$/;

/** Copies a data folder into a fixture. */
export function copyGeneralized(from: string, to: string, names: NameReplacements): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (LEFT_OUT.test(entry.name)) continue;
    const [source, target] = [join(from, entry.name), join(to, names.generalize(entry.name))];
    if (entry.isDirectory()) copyGeneralized(source, target, names);
    else if (entry.isFile()) writeFileSync(target, generalizeNames(readFileSync(source), names));
  }
}

/** Binary content stays unchanged. */
function generalizeNames(bytes: Buffer, names: NameReplacements): Buffer {
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes) ? Buffer.from(names.generalize(text)) : bytes;
}
