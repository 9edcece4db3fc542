import { reasonOf } from '@parley/contracts';
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
} from 'yaml';
import { type Block, isBlock } from './block.ts';
import type { SettingsPath } from './path.ts';
import type { Position, SettingsProblem } from './problem.ts';
import {
  newestVersion,
  SETTINGS_STEPS,
  type SettingsStep,
  upgradeDocument,
  type VersionCheck,
} from './settings-version.ts';
import { syntaxProblem } from './syntax.ts';

/** A file that is YAML: its plain values, and where each of them stands. */
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
  keepLongNumbers(document);
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

/** Platform ids have up to 20 digits; a number would silently lose the last ones. */
function keepLongNumbers(document: Document): void {
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value !== 'number' || Number.isSafeInteger(node.value)) return;
      if (node.source !== undefined && /^-?\d+$/.test(node.source)) node.value = node.source;
    },
  });
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
