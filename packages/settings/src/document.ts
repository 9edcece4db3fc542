import { reasonOf, replaceHiddenCharacters } from '@parley/core';
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type YAMLError,
  YAMLMap,
} from 'yaml';
import manifest from '../package.json' with { type: 'json' };
import {
  applyDraft,
  LARGEST_SETTINGS_BYTES,
  parseEditableDocument,
  preserveLongNumbers,
  readTextFile,
  writeDraft,
} from './settings-file.ts';
import {
  getNewestVersion,
  movePath,
  SETTINGS_STEPS,
  type SettingsEdit,
  type SettingsMigration,
} from './settings-steps.ts';
import {
  type Block,
  type FilePosition,
  formatPath,
  isBlock,
  maskLine,
  type SettingsPath,
  type SettingsProblem,
} from './source.ts';

/**
 * How a file's version compares with this Parley's version; `writtenBy` is the Parley version that
 * wrote the file, if the file contains it.
 */
type VersionCheck =
  | { readonly kind: 'current' }
  /**
   * `renamed` lists old names or values with their current ones, such as `heartbeat.tell →
   * heartbeat.notify`.
   */
  | {
      readonly kind: 'upgraded';
      readonly from: number;
      readonly to: number;
      readonly renamed: readonly string[];
    }
  | { readonly kind: 'newer'; readonly version: number; readonly writtenBy: string | null };

/** Formats the line with the version of a file and the Parley version that wrote it. */
export function formatVersionLine(version: number): string {
  return `version: ${version} # Parley ${manifest.version}`;
}

/**
 * Upgrades a document in memory on its YAML nodes, which keep their comments and positions. A file
 * without a version is version 1; a version that is not a whole number is left for the schema to
 * report.
 */
export function upgradeDocument(
  document: Document,
  steps: readonly SettingsMigration[],
): VersionCheck {
  const written = document.getIn(['version'], true);
  const value = isScalar(written) ? written.value : 1;
  if (!Number.isSafeInteger(value)) return { kind: 'current' };
  const from = Number(value);
  const to = getNewestVersion(steps);
  if (from > to) {
    const comment = isScalar(written) ? (written.comment ?? '') : '';
    const writtenBy = /Parley (\d[\w.-]*)/.exec(comment)?.[1] ?? null;
    return { kind: 'newer', version: from, writtenBy };
  }
  const missing = steps.filter((step) => step.to > from);
  const isEmptyOrBlock = document.contents === null || isMap(document.contents);
  if (missing.length === 0 || !isEmptyOrBlock) return { kind: 'current' };
  const renamed = missing.flatMap(({ edits }) =>
    edits.flatMap((edit) => applyEdit(document, edit)),
  );
  setVersion(document, to);
  return { kind: 'upgraded', from, to, renamed };
}

/** Applies an edit and describes its changes for people. */
function applyEdit(document: Document, edit: SettingsEdit): readonly string[] {
  if (edit.kind === 'move') {
    return listDocumentPaths(document, edit.from).flatMap((from) => {
      const to = movePath(edit, from);
      return movePair(document, from, to) ? [`${formatPath(from)} → ${formatPath(to)}`] : [];
    });
  }
  return listDocumentPaths(document, edit.at).flatMap((path) => {
    const before = document.getIn(path);
    const value = edit.value(before);
    if (value === before) return [];
    document.setIn(path, value);
    return [`${formatPath(path)}: ${String(before)} → ${String(value)}`];
  });
}

/** Lists the paths in a document that match a pattern in which `*` stands for any key. */
function listDocumentPaths(document: Document, path: SettingsPath): readonly SettingsPath[] {
  const star = path.indexOf('*');
  if (star === -1) return document.hasIn(path) ? [path] : [];
  const block = findNode(document, path.slice(0, star));
  if (!isMap(block)) return [];
  return block.items.flatMap(({ key }) =>
    isScalar(key) ? listDocumentPaths(document, path.with(star, String(key.value))) : [],
  );
}

function movePair(document: Document, from: SettingsPath, to: SettingsPath): boolean {
  const pair = findPair(document, from);
  const name = to.at(-1);
  if (document.hasIn(to) || pair === undefined || !isScalar(pair.key)) return false;
  pair.key.value = name;
  if (String(from.slice(0, -1)) === String(to.slice(0, -1))) return true;
  document.deleteIn([...from.slice(0, -1), name]);
  ensureSection(document, to.slice(0, -1)).items.push(pair);
  return true;
}

/** Returns the block at a path, creating it if it does not exist. */
export function ensureSection(document: Document, path: SettingsPath): YAMLMap {
  const found = findNode(document, path);
  if (isMap(found)) return found;
  const section = new YAMLMap();
  const pair = findPair(document, path);
  if (pair !== undefined) {
    if (isNode(pair.value)) preserveComments(pair.value, section);
    pair.value = section;
  } else if (path.length === 0) document.contents = section;
  else {
    const key = document.createNode(path.at(-1));
    ensureSection(document, path.slice(0, -1)).items.push(document.createPair(key, section));
  }
  return section;
}

/**
 * Keeps the comments of a replaced node. YAML assigns settings that are commented out to the empty
 * value above them.
 */
export function preserveComments(from: Node, to: Node): void {
  to.comment ??= from.comment ?? null;
  to.commentBefore ??= from.commentBefore ?? null;
}

export function findPair(document: Document, path: SettingsPath): Pair | undefined {
  const parent = findNode(document, path.slice(0, -1));
  if (!isMap(parent)) return undefined;
  return parent.items.find(({ key }) => isScalar(key) && key.value === path.at(-1));
}

function findNode(document: Document, path: SettingsPath): unknown {
  return path.length === 0 ? document.contents : document.getIn(path, true);
}

function setVersion(document: Document, version: number): void {
  const node = document.createNode(version);
  node.comment = ` Parley ${manifest.version}`;
  const known = findPair(document, ['version']);
  if (known !== undefined) known.value = node;
  else ensureSection(document, []).items.unshift(document.createPair('version', node));
}

/** The result of the upgrade; `kept` is the path of the old file. */
type SettingsUpgrade =
  | Exclude<VersionCheck, { kind: 'upgraded' }>
  | { readonly kind: 'missing' | 'broken' }
  | (Extract<VersionCheck, { kind: 'upgraded' }> & { readonly kept: string });

/**
 * Rewrites an older settings file for this version of Parley, together with its comments, and keeps
 * the old file next to it. Throws `SettingsError` when the file cannot be read or written; an
 * invalid file is not changed.
 */
export function upgradeSettings(
  file: string,
  steps: readonly SettingsMigration[] = SETTINGS_STEPS,
): SettingsUpgrade {
  const read = readTextFile(file, LARGEST_SETTINGS_BYTES);
  if (read.kind === 'missing') return { kind: 'missing' };
  const document = parseEditableDocument(read.text);
  if (document.errors.length > 0) return { kind: 'broken' };
  const check = upgradeDocument(document, steps);
  if (check.kind !== 'upgraded') return check;
  const kept = `${file}.version-${check.from}`;
  writeDraft(file, document.toString({ lineWidth: 0 }));
  applyDraft(file, kept);
  return { ...check, kept };
}

/**
 * Lists the old names in a settings file with their current ones; empty if the file is missing,
 * invalid or current.
 */
export function listOldNames(file: string): readonly string[] {
  const read = readTextFile(file, LARGEST_SETTINGS_BYTES);
  if (read.kind === 'missing') return [];
  const document = parseEditableDocument(read.text);
  if (document.errors.length > 0) return [];
  const check = upgradeDocument(document, SETTINGS_STEPS);
  return check.kind === 'upgraded' ? check.renamed : [];
}

/** A YAML file: its plain values, and where each of them is. */
export interface SettingsDocument {
  readonly kind: 'document';
  readonly value: Block;
  readonly warnings: readonly SettingsProblem[];
  /**
   * Returns the position of a key or of its value; for a missing key, the position of the nearest
   * existing block.
   */
  locate(path: SettingsPath, part: 'key' | 'value'): FilePosition | undefined;
  /**
   * Returns a number as written, because `007` and `+49` are ids; undefined if the value at that
   * path is not a number.
   */
  literal(path: SettingsPath): string | undefined;
}

/** A file that cannot be parsed. */
interface BrokenDocument {
  readonly kind: 'broken';
  readonly problems: readonly SettingsProblem[];
}

/**
 * Parses YAML 1.2 strictly: no tabs, no duplicate keys, at most ten aliases. An older file is
 * upgraded in memory; a newer one is a problem. Never throws.
 */
export function parseSettings(
  text: string,
  steps: readonly SettingsMigration[] = SETTINGS_STEPS,
): SettingsDocument | BrokenDocument {
  try {
    return readSettingsDocument(text, steps);
  } catch (error) {
    // The parser is recursive, so a file that is nested thousands of levels deep fails here, and so
    // does a file that expands aliases without end.
    return createBrokenDocument(
      `YAML of a reasonable depth and with few aliases (${reasonOf(error)})`,
    );
  }
}

function readSettingsDocument(
  text: string,
  steps: readonly SettingsMigration[],
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
    return {
      kind: 'broken',
      problems: document.errors.map((e) => toSyntaxProblem(e, text, lines)),
    };
  }
  const version = upgradeDocument(document, steps);
  if (version.kind === 'newer') return createNewerDocument(version, document, lines);
  preserveLongNumbers(document, String);
  const value: unknown = document.toJS({ maxAliasCount: 10 }) ?? {};
  if (!isBlock(value))
    return createBrokenDocument('lines of the form `key: value`, or an empty file');
  return {
    kind: 'document',
    value,
    warnings: document.warnings.map((e) => toSyntaxProblem(e, text, lines)),
    locate: (path, part) => locatePath(document, lines, path, part),
    literal(path) {
      const node = document.getIn(path, true);
      return isScalar(node) && typeof node.value === 'number' ? node.source : undefined;
    },
  };
}

function createBrokenDocument(expected: string): BrokenDocument {
  return { kind: 'broken', problems: [{ kind: 'syntax', path: '', expected }] };
}

/** Other keys are not checked, because a newer version of Parley may have different keys. */
function createNewerDocument(
  { version, writtenBy }: Extract<VersionCheck, { kind: 'newer' }>,
  document: Document,
  lines: LineCounter,
): BrokenDocument {
  const by = writtenBy === null ? 'a newer Parley' : `Parley ${writtenBy}`;
  const expected = `at most ${getNewestVersion(SETTINGS_STEPS)}: the file was written for ${by}. Update Parley, or start it with another file (--config FILE); this file is not changed`;
  const position = locatePath(document, lines, ['version'], 'value');
  const place = position === undefined ? {} : { position };
  const problem = { kind: 'newer' as const, path: 'version', found: String(version), expected };
  return { kind: 'broken', problems: [{ ...problem, ...place }] };
}

function locatePath(
  document: Document,
  lines: LineCounter,
  path: SettingsPath,
  part: 'key' | 'value',
): FilePosition | undefined {
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
      offset =
        (wantsKey ? undefined : findValueOffset(pair.value)) ?? findNodeStart(pair.key) ?? offset;
    } else if (isSeq(container) && typeof step === 'number') {
      node = container.items[step];
      offset = findNodeStart(node) ?? offset;
    } else break;
  }
  if (offset === undefined) return undefined;
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
}

/**
 * Finds the offset to report for a value: that of the key for a block, and that of the value itself
 * for a scalar.
 */
function findValueOffset(node: unknown): number | undefined {
  return isScalar(node) && node.value !== null ? findNodeStart(node) : undefined;
}

function findNodeStart(node: unknown): number | undefined {
  return isScalar(node) || isMap(node) || isSeq(node) || isAlias(node)
    ? node.range?.[0]
    : undefined;
}

/** Explains a YAML syntax error, with the line and a caret below the position. */
function toSyntaxProblem(error: YAMLError, text: string, lines: LineCounter): SettingsProblem {
  const { line, col } = lines.linePos(error.pos[0]);
  return {
    kind: 'syntax',
    path: '',
    position: { line, column: col },
    expected: explainYamlError(error),
    excerpt: formatExcerpt(text, line, col),
  };
}

/**
 * Formats the previous line, the line itself, and a caret. Long lines are truncated around the
 * column, and secrets are replaced by dots.
 */
function formatExcerpt(text: string, line: number, column: number): string {
  const all = text.split(/\r?\n/);
  const from = Math.max(0, column - 60);
  const shown = [line - 1, line].filter((number) => number >= 1);
  const width = String(line).length;
  const rows = shown.map((number) => {
    const content = replaceHiddenCharacters(maskLine(all[number - 1] ?? '')).slice(
      from,
      from + 100,
    );
    return `${String(number).padStart(width)} | ${content}`;
  });
  return [...rows, `${' '.repeat(width)} | ${' '.repeat(column - 1 - from)}^`].join('\n');
}

/** Returns the parser's own message, unless it mentions a function of the parser. */
function explainYamlError({ code, message }: YAMLError): string {
  if (code === 'MULTIPLE_DOCS') return 'one document; remove the line `---` in the middle';
  return `valid YAML: ${message}`;
}
