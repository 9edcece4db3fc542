import { isDeepStrictEqual } from 'node:util';
import { toDisplayLine } from '@parley/core';
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  type Node,
  YAMLSeq,
} from 'yaml';
import { ensureSection, findPair, preserveComments, upgradeDocument } from './document.ts';
import { parseEditableDocument } from './settings-file.ts';
import { SETTINGS_STEPS } from './settings-steps.ts';
import { formatPath, type SettingsPath, type SettingsProblem } from './source.ts';

/**
 * A value as in YAML, in which `${NAME}` and `${file:/path}` in text are references and `$${` is a
 * literal `${`.
 */
export type SettingsValue =
  | string
  | number
  | boolean
  | readonly SettingsValue[]
  | { readonly [key: string]: SettingsValue };

/**
 * One change to the file. `set` and `remove` change the key at a path; `add` and `take` change one
 * entry of the list at the path. `comment` is written after a new value and explains it, for
 * example with a group's title.
 */
export type SettingsChange =
  | {
      readonly kind: 'set' | 'add';
      readonly path: SettingsPath;
      readonly value: SettingsValue;
      readonly comment?: string;
    }
  | { readonly kind: 'take'; readonly path: SettingsPath; readonly value: string | number }
  | { readonly kind: 'remove'; readonly path: SettingsPath };

const MAX_COMMENT = 80;

/** The changed text, or `problems` with the reasons why changes are impossible. */
export type ChangedText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'refused'; readonly problems: readonly SettingsProblem[] };

/** Pure. */
export function changeSettingsText(text: string, changes: readonly SettingsChange[]): ChangedText {
  let now = text;
  for (const change of changes) {
    let document = parseEditableDocument(now);
    if (document.errors.length > 0)
      return refuseChange(change.path, 'a settings file that is valid YAML');
    const upgrade = upgradeDocument(document, SETTINGS_STEPS);
    if (upgrade.kind === 'newer') {
      return refuseChange(['version'], 'a version that this Parley supports');
    }
    // A file with names from an older version is reprinted with the current names; other files keep
    // their lines.
    if (upgrade.kind === 'upgraded' && upgrade.renamed.length > 0) now = printYaml(document, now);
    else document = parseEditableDocument(now);
    const printed = printYaml(document, now);
    const obstacle = applyChange(document, change);
    if (obstacle !== undefined) return refuseChange(change.path, obstacle);
    const after = printYaml(document, now);
    if (after !== printed) now = preserveUnchangedLines(now, printed, after);
  }
  return { kind: 'text', text: now };
}

function refuseChange(path: SettingsPath, expected: string): ChangedText {
  return {
    kind: 'refused',
    problems: [{ kind: 'value', path: formatPath(path), expected }],
  };
}

/**
 * Applies a change to the YAML nodes; if that is impossible, returns what the file would have to
 * contain.
 */
function applyChange(document: Document, change: SettingsChange): string | undefined {
  const { kind, path } = change;
  const alias = path.find((_, index) => isAlias(document.getIn(path.slice(0, index + 1), true)));
  if (alias !== undefined) {
    return 'a separate value: this is an alias (*name), which only a person can change';
  }
  if (kind === 'remove') {
    removeNode(document, path);
    return undefined;
  }
  if (kind === 'set') return setValue(document, change);
  const list = document.getIn(path, true);
  if (list !== undefined && !isSeq(list) && !isEmptyNode(list)) return 'a list';
  const entries = isSeq(list) ? list.items : [];
  const at = entries.findIndex((entry) => isSameValue(entry, change.value));
  if (kind === 'take') {
    if (at >= 0) entries.splice(at, 1);
    return undefined;
  }
  if (at >= 0) return undefined;
  const entry = createNode(document, change);
  if (isSeq(list) && list.items.length > 0) {
    // In a list in brackets, a comment would comment out the rest of the line.
    if (list.flow === true) entry.comment = null;
    list.items.push(entry);
    return undefined;
  }
  const made = new YAMLSeq();
  made.items.push(entry);
  return writeNode(document, path, made);
}

/**
 * Removes a key and keeps the comments around it, because they may describe the next key or contain
 * settings that are commented out.
 */
function removeNode(document: Document, path: SettingsPath): void {
  const block = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  const pair = findPair(document, path);
  if (!isMap(block) || pair === undefined) {
    if (document.hasIn(path)) document.deleteIn(path);
    return;
  }
  const at = block.items.indexOf(pair);
  const comments = [
    isNode(pair.key) ? pair.key.commentBefore : null,
    ...listTrailingComments(pair.value),
  ];
  const next = block.items[at + 1]?.key;
  block.items.splice(at, 1);
  const joined = (last: string | null | undefined) =>
    [...comments, last].filter((text) => typeof text === 'string').join('\n') || null;
  if (isNode(next)) next.commentBefore = joined(next.commentBefore);
  else block.comment = joined(block.comment);
}

/** Lists the comments below the last entry in a block. */
function listTrailingComments(node: unknown): (string | null | undefined)[] {
  if (!isMap(node) && !isSeq(node)) return [];
  const last = node.items.at(-1);
  return [...listTrailingComments(isPair(last) ? last.value : last), node.comment];
}

function setValue(
  document: Document,
  change: Extract<SettingsChange, { kind: 'set' | 'add' }>,
): string | undefined {
  const known = document.getIn(change.path, true);
  if (isScalar(known) && typeof change.value !== 'object') {
    if (known.value === change.value) return undefined;
    // The new value may need different quotes, so the node is replaced; the comment after it is
    // kept.
    document.setIn(change.path, change.value);
    return undefined;
  }
  if (isMap(known) || isSeq(known)) {
    if (isDeepStrictEqual(known.toJS(document), change.value)) return undefined;
  }
  return writeNode(document, change.path, createNode(document, change));
}

/** Writes a node at a path and creates missing parent blocks. */
function writeNode(document: Document, path: SettingsPath, node: Node): string | undefined {
  for (let depth = 1; depth < path.length; depth++) {
    const above = document.getIn(path.slice(0, depth), true);
    if (above !== undefined && !isMap(above) && !isSeq(above) && !isEmptyNode(above)) {
      return `a block, so that ${formatPath(path.slice(0, depth))} can contain it`;
    }
  }
  const known = findPair(document, path);
  if (known !== undefined) {
    if (isNode(known.value)) preserveComments(known.value, node);
    known.value = node;
  } else if (typeof path.at(-1) === 'number') document.setIn(path, node);
  else {
    const key = document.createNode(path.at(-1));
    ensureSection(document, path.slice(0, -1)).items.push(document.createPair(key, node));
  }
  return undefined;
}

function createNode(
  document: Document,
  { value, comment }: Extract<SettingsChange, { kind: 'set' | 'add' }>,
): Node {
  const node = document.createNode(value);
  if (comment === undefined) return node;
  const line = toDisplayLine(comment).replaceAll(/\s+/g, ' ').trim();
  if (line !== '') node.comment = ` ${[...line].slice(0, MAX_COMMENT).join('')}`;
  return node;
}

/** A key without a value is treated as absent. */
function isEmptyNode(node: unknown): boolean {
  return node === null || (isScalar(node) && node.value === null);
}

/** Compares values as text, because an id may be written as a number or as a string. */
function isSameValue(entry: unknown, value: SettingsValue): boolean {
  if (isScalar(entry)) return typeof value !== 'object' && String(entry.value) === String(value);
  return isMap(entry) && isDeepStrictEqual(entry.toJSON(), value);
}

/** Prints a document in the style of the given text, as far as the YAML writer allows. */
function printYaml(document: Document, like: string): string {
  const indent = /^( +)[^\s#-]/m.exec(like)?.[1]?.length ?? 2;
  return document.toString({
    lineWidth: 0,
    indent: Math.min(8, indent),
    indentSeq: !/^( *)[^\s#-].*:[ \t]*(#.*)?\n\1- /m.test(like),
    flowCollectionPadding: false,
  });
}

/**
 * Merges a change into the original text, so that unchanged lines keep their formatting. `printed`
 * is the unchanged file as formatted by the YAML writer, with different spacing. If its lines
 * cannot be matched to those in the file, or if the result would have a different meaning, `after`
 * is returned as printed.
 */
function preserveUnchangedLines(text: string, printed: string, after: string): string {
  const [file, old, young] = [splitLines(text), splitLines(printed), splitLines(after)];
  const places = matchLines(old, file);
  if (places === undefined) return after;
  const shorter = Math.min(old.length, young.length);
  let start = 0;
  while (start < shorter && old[start] === young[start]) start++;
  let end = 0;
  while (end < shorter - start && old.at(-1 - end) === young.at(-1 - end)) end++;
  const fromStart = places[start] ?? file.length;
  const fromEnd = end === 0 ? file.length : (places[old.length - end] ?? file.length);
  const merged = [
    ...file.slice(0, start === 0 ? 0 : Math.max(fromStart, (places[start - 1] ?? 0) + 1)),
    ...young.slice(start, young.length - end),
    ...file.slice(fromEnd),
  ].join('\n');
  const result = merged.endsWith('\n') ? merged : `${merged}\n`;
  return hasSameMeaning(result, after) ? result : after;
}

function splitLines(text: string): string[] {
  return text.replace(/\n$/, '').split(/\r?\n/);
}

/** Maps each printed line to a line of the file, ignoring blank lines. */
function matchLines(printed: readonly string[], file: readonly string[]): number[] | undefined {
  const places: number[] = [];
  let at = 0;
  for (const line of printed) {
    const bare = trimLine(line);
    if (bare === '') {
      places.push(at);
      continue;
    }
    while (at < file.length && trimLine(file[at] ?? '') === '') at++;
    if (trimLine(file[at] ?? '') !== bare) return undefined;
    places.push(at);
    at++;
  }
  return places;
}

function trimLine(line: string): string {
  return line.replaceAll(/\s/g, '');
}

function hasSameMeaning(text: string, other: string): boolean {
  const [one, two] = [parseEditableDocument(text), parseEditableDocument(other)];
  return one.errors.length === 0 && isDeepStrictEqual(one.toJS(), two.toJS());
}
