import { HIDDEN, type Scrub } from './scrubber.ts';

/**
 * Scrubs JSON so that it stays JSON: a secret made of digits may stand inside a number, where a
 * replacement would break it.
 */
export function scrubJson(json: string, scrub: Scrub): string {
  const clean = scrub(json);
  if (clean === json || isJson(clean)) return clean;
  return JSON.stringify(scrubValue(JSON.parse(json), scrub));
}

/** The same for a line of the log. */
export function scrubJsonLine(line: string, scrub: Scrub): string {
  const clean = scrubJson(line, scrub);
  return clean.endsWith('\n') ? clean : `${clean}\n`;
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false; // That is the question, not a failure.
  }
}

function scrubValue(value: unknown, scrub: Scrub): unknown {
  if (typeof value === 'string') return scrub(value);
  if (typeof value === 'number') return scrub(String(value)) === String(value) ? value : HIDDEN;
  if (Array.isArray(value)) return value.map((entry) => scrubValue(entry, scrub));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([key, entry]) => [scrub(key), scrubValue(entry, scrub)]));
}
