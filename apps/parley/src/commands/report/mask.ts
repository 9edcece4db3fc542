import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getSystemErrorMap } from 'node:util';
import { INSTALLATION, isBundle } from '@parley/core/installation';

/** Hides everything in a value that does not come from Parley. */
export type Mask = (value: unknown) => unknown;

/** The largest number that is not hidden. Larger numbers may be phone numbers or people's ids. */
const LARGEST_NUMBER = 9_999_999;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/**
 * Strings of three or more digits are always hidden. Parley's program contains some of them, but
 * platforms also use them as people's ids.
 */
const ID = /^\d{3,}$/;
const DEEPEST = 12;

/**
 * Creates the filter that every value in a bug report passes through. Text is kept if it occurs
 * verbatim in Parley's program as a string or a name. Small numbers and ISO times are kept as well.
 * Other text becomes `[text 1]`, `[text 2]` and so on. Equal text gets the same number, so that
 * lines can be compared.
 */
export async function openMask(): Promise<Mask> {
  const own = await listProgramTexts();
  const seen = new Map<string, string>();
  const hidden = (text: string): string => {
    const known = seen.get(text) ?? `[text ${seen.size + 1}]`;
    seen.set(text, known);
    return known;
  };
  const keyOf = (key: string): string => (own.has(key) ? key : hidden(key));
  const textOf = (text: string): string => {
    if (text === '' || TIME.test(text) || (own.has(text) && !ID.test(text))) return text;
    return hidden(text);
  };
  const mask = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return textOf(value);
    if (typeof value === 'number')
      return Math.abs(value) > LARGEST_NUMBER ? hidden(String(value)) : value;
    if (typeof value !== 'object' || value === null) return value;
    if (depth > DEEPEST) return '[too deep]';
    if (Array.isArray(value)) return value.map((one) => mask(one, depth + 1));
    const entries = Object.entries(value);
    return Object.fromEntries(
      entries.map(([key, one]) =>
        key === 'stack' ? [key, listStackFrames(one)] : [keyOf(key), mask(one, depth + 1)],
      ),
    );
  };
  return (value) => mask(value, 0);
}

/**
 * Match field names, and the text between any two matching quotes, even outside a string literal.
 */
const LOOKS = [
  /\b([A-Za-z_$][\w$]{2,})(?=\??\s*[:,}])/g,
  ...[/"(?=([^"\n]{1,200})")/g, /'(?=([^'\n]{1,200})')/g, /`(?=([^`\n]{1,200})`)/g],
];

/** Lists the strings and names in the program, and the names of system errors. */
async function listProgramTexts(): Promise<ReadonlySet<string>> {
  const texts = new Set([...getSystemErrorMap().values()].map(([name]) => name));
  for (const file of listProgramFiles()) {
    // Files are read one at a time, so that the gateway can handle messages between reads.
    const code = await readFile(file, 'utf8');
    for (const look of LOOKS) for (const [, text = ''] of code.matchAll(look)) texts.add(text);
  }
  return texts;
}

function listProgramFiles(): readonly string[] {
  const here = fileURLToPath(new URL('.', import.meta.url));
  if (isBundle) {
    const files = readdirSync(here).filter((name) => name.endsWith('.mjs'));
    return files.map((name) => join(here, name));
  }
  const root = fileURLToPath(INSTALLATION);
  return ['apps', 'packages'].flatMap((top) =>
    readdirSync(join(root, top), { recursive: true, encoding: 'utf8' })
      .filter((path) => /^[^/]+\/src\/.*\.ts$/.test(path))
      .filter((path) => !/\.test\.ts$|\/testing\//.test(path))
      .map((path) => join(root, top, path)),
  );
}

/** Lists the file and line of each stack frame, without folder names. */
function listStackFrames(stack: unknown): readonly string[] {
  const frames = String(stack).matchAll(
    /^[ \t]+at .*?((?<![\w.-])[\w.-]+\.(?:m|c)?[jt]s:\d+:\d+)\)?$/gm,
  );
  const program = fileURLToPath(isBundle ? new URL('.', import.meta.url) : INSTALLATION);
  return [...frames].map(([line, place = '']) =>
    line.includes(program) || line.includes('node:') ? place : '[elsewhere]',
  );
}
