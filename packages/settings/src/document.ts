import { reasonOf } from '@parley/core';
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type YAMLError,
} from 'yaml';
import { keepLongNumbers } from './settings-file.ts';
import {
  type Block,
  isBlock,
  maskLine,
  type Position,
  type SettingsPath,
  type SettingsProblem,
} from './source.ts';
import {
  newestVersion,
  SETTINGS_STEPS,
  type SettingsStep,
  upgradeDocument,
  type VersionCheck,
} from './version.ts';

/** A YAML file: its plain values, and the place of each. */
export interface SettingsDocument {
  readonly kind: 'document';
  readonly value: Block;
  readonly warnings: readonly SettingsProblem[];
  /** The place of a key or of its value; for something missing, the nearest block that is there. */
  locate(path: SettingsPath, part: 'key' | 'value'): Position | undefined;
}

/** A file that cannot be understood at all. */
export interface BrokenDocument {
  readonly kind: 'broken';
  readonly problems: readonly SettingsProblem[];
}

/**
 * Reads YAML 1.2 strictly: no tabs, no double keys, at most ten aliases. An older file is brought up to
 * date in memory, a newer one is a problem. Never throws.
 */
export function parseSettings(
  text: string,
  steps: readonly SettingsStep[] = SETTINGS_STEPS,
): SettingsDocument | BrokenDocument {
  try {
    return readDocument(text, steps);
  } catch (error) {
    // The parser recurses; a file nested thousands deep ends here, as does a bomb of aliases.
    return broken(`YAML of a reasonable depth and with few aliases (${reasonOf(error)})`);
  }
}

function readDocument(
  text: string,
  steps: readonly SettingsStep[],
): SettingsDocument | BrokenDocument {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    schema: 'core',
    strict: true,
    uniqueKeys: true,
    prettyErrors: false,
    logLevel: 'error',
    lineCounter: lines,
  });
  if (document.errors.length > 0) {
    return { kind: 'broken', problems: document.errors.map((e) => syntaxProblem(e, text, lines)) };
  }
  const version = upgradeDocument(document, steps);
  if (version.kind === 'newer') return ofNewer(version, document, lines);
  keepLongNumbers(document, String);
  const value: unknown = document.toJS({ maxAliasCount: 10 }) ?? {};
  if (!isBlock(value)) return broken('lines of the form `key: value`, or an empty file');
  return {
    kind: 'document',
    value,
    warnings: document.warnings.map((e) => syntaxProblem(e, text, lines)),
    locate: (path, part) => locate(document, lines, path, part),
  };
}

function broken(expected: string): BrokenDocument {
  return { kind: 'broken', problems: [{ kind: 'syntax', path: '', expected }] };
}

/** Nothing else in it is judged: a newer Parley may have other keys. */
function ofNewer(
  { version, writtenBy }: Extract<VersionCheck, { kind: 'newer' }>,
  document: Document,
  lines: LineCounter,
): BrokenDocument {
  const by = writtenBy === null ? 'a newer Parley' : `Parley ${writtenBy}`;
  const expected = `at most ${newestVersion(SETTINGS_STEPS)}: the file was written for ${by}. Update Parley, or start it with another file (--config FILE); this one is left as it is`;
  const position = locate(document, lines, ['version'], 'value');
  const place = position === undefined ? {} : { position };
  const problem = { kind: 'newer' as const, path: 'version', found: String(version), expected };
  return { kind: 'broken', problems: [{ ...problem, ...place }] };
}

function locate(
  document: Document,
  lines: LineCounter,
  path: SettingsPath,
  part: 'key' | 'value',
): Position | undefined {
  let node: unknown = document.contents;
  let offset: number | undefined;
  for (const [index, step] of path.entries()) {
    const container = isAlias(node) ? node.resolve(document) : node;
    const wantsKey = part === 'key' && index === path.length - 1;
    if (isMap(container)) {
      const pair = container.items.find(
        (item) => isScalar(item.key) && String(item.key.value) === step,
      );
      if (pair === undefined) break;
      node = pair.value;
      offset = (wantsKey ? undefined : valueOffset(pair.value)) ?? startOf(pair.key) ?? offset;
    } else if (isSeq(container) && typeof step === 'number') {
      node = container.items[step];
      offset = startOf(node) ?? offset;
    } else break;
  }
  if (offset === undefined) return undefined;
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
}

/** A block is best shown by its key, a single value by itself. */
function valueOffset(node: unknown): number | undefined {
  return isScalar(node) && node.value !== null ? startOf(node) : undefined;
}

function startOf(node: unknown): number | undefined {
  return isScalar(node) || isMap(node) || isSeq(node) || isAlias(node)
    ? node.range?.[0]
    : undefined;
}

/** Says what the YAML parser met, where, with the line and a caret below the place. */
function syntaxProblem(error: YAMLError, text: string, lines: LineCounter): SettingsProblem {
  const { line, col } = lines.linePos(error.pos[0]);
  return {
    kind: 'syntax',
    path: '',
    position: { line, column: col },
    expected: explain(error),
    excerpt: excerpt(text, line, col),
  };
}

/** The line before, the line, and a caret; long lines are cut around the column, secrets are dots. */
function excerpt(text: string, line: number, column: number): string {
  const all = text.split(/\r?\n/);
  const from = Math.max(0, column - 60);
  const shown = [line - 1, line].filter((number) => number >= 1);
  const width = String(line).length;
  const rows = shown.map((number) => {
    const content = printable(maskLine(all[number - 1] ?? '')).slice(from, from + 100);
    return `${String(number).padStart(width)} | ${content}`;
  });
  return [...rows, `${' '.repeat(width)} | ${' '.repeat(column - 1 - from)}^`].join('\n');
}

/** Control characters would move the caret, or the terminal. */
function printable(line: string): string {
  return line.replaceAll(/\p{Cc}/gu, ' ');
}

/** The parser's own message, unless it names a function of the parser. */
function explain({ code, message }: YAMLError): string {
  if (code === 'MULTIPLE_DOCS') return 'one document; remove the line `---` in the middle';
  return `valid YAML: ${message}`;
}
