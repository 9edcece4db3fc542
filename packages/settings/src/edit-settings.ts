import { createHash } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isMissingFile } from '@parley/core';
import { type Document, isScalar, parseDocument, visit } from 'yaml';
import { changeSettingsText, type SettingsChange } from './change-text.ts';
import { parseSettings } from './document.ts';
import { createSettingsTemplate, type SettingsResult } from './load-settings.ts';
import {
  applyDraft,
  deleteDraft,
  getDraftPath,
  LARGEST_SETTINGS_BYTES,
  parseEditableDocument,
  readTextFile,
  writeDraft,
} from './settings-file.ts';
import { formatPath, type SettingsPath, type SettingsProblem } from './source.ts';

export type { SettingsChange, SettingsValue } from './change-text.ts';

export interface EditSettingsOptions {
  /** The settings file, created from the template of a first start if it is missing. */
  readonly file: string;
  /** Checks a file as at startup: `loadSettings` with the options of this installation. */
  readonly check: (file: string) => SettingsResult;
  /** The timestamp used in the name of the old file's copy. */
  readonly now: Date;
}

/** The result of editing the file. */
export type SettingsEditResult =
  /** `kept` is the path of the old file's copy; null when there was no file. */
  | { readonly kind: 'written'; readonly kept: string | null }
  /** The file already contains the requested values. */
  | { readonly kind: 'unchanged' }
  /**
   * The file was not changed, because Parley or an account would not start, or a key is unknown.
   */
  | { readonly kind: 'refused'; readonly problems: readonly SettingsProblem[] };

/** The maximum number of copies of old files; older ones are removed. */
const MAX_COPIES = 10;

/**
 * Changes the settings file and leaves the rest of the text as written: comments, references, order
 * and spaces. Either all changes are made, or none of them. If Parley or an account would not start
 * after a change, the change is refused with its problems; existing problems of a broken account do
 * not prevent a change. Runs synchronously, so that concurrent changes within one process never
 * mix. A running Parley reloads the changed file automatically.
 *
 * Throws `SettingsError` when the file cannot be read or written. With `hide`, a value in which a
 * secret is hidden keeps the secret from the file, as in `replaceSettings`.
 *
 * @example editSettings( [{ kind: 'add', path: ['channels', 'telegram', 'access', 'allowGroups'],
 * value: '-100123', comment: 'Family' }], { file, check, now: new Date() }, );
 */
export function editSettings(
  changes: readonly SettingsChange[],
  { file, check, now }: EditSettingsOptions,
  hide?: (text: string) => string,
): SettingsEditResult {
  const before = readRawSettingsFile(file).text;
  const changed = changeSettingsText(before, changes);
  if (changed.kind === 'refused') {
    // The check explains invalid YAML with its position.
    const broken = check(file);
    return broken.kind === 'invalid' ? { kind: 'refused', problems: broken.problems } : changed;
  }
  const whole = hide === undefined ? changed : restoreSecrets(changed.text, before, hide);
  return whole.kind === 'refused' ? whole : writeSettings(whole.text, { file, check, now });
}

/** The settings file as written, or the template of a first start if the file is missing. */
export interface RawSettingsFile {
  readonly text: string;
  /** A fingerprint that changes with the text. */
  readonly print: string;
  /** The values with unresolved references; null when the text is not valid YAML. */
  readonly values: object | null;
}

/** Reads the settings file; throws `SettingsError` when it cannot be read. */
export function readRawSettingsFile(file: string): RawSettingsFile {
  const read = readTextFile(file, LARGEST_SETTINGS_BYTES);
  const text = read.kind === 'text' ? read.text : createSettingsTemplate();
  const document = parseSettings(text);
  return {
    text,
    print: createHash('sha256').update(text).digest('base64url'),
    values: document.kind === 'document' ? document.value : null,
  };
}

/**
 * Replaces the whole file with the given text, after the same checks as in `editSettings`. If the
 * text contains a secret as hidden by `hide`, the secret at that position in the file is kept.
 */
export function replaceSettings(
  text: string,
  hide: (text: string) => string,
  options: EditSettingsOptions,
): SettingsEditResult {
  const whole = restoreSecrets(text, readRawSettingsFile(options.file).text, hide);
  return whole.kind === 'refused' ? whole : writeSettings(whole.text, options);
}

/** A copy of the file made before a change. */
interface SettingsCopy {
  readonly path: string;
  /** The time of the change. */
  readonly keptAt: string;
}

/** Finds the newest copy; undefined when the file was never changed. */
export function findLastCopy(file: string): SettingsCopy | undefined {
  const name = listCopyNames(file).at(-1);
  if (name === undefined) return undefined;
  const stamp = name.slice(`${basename(file)}.before-`.length);
  const keptAt = stamp.replace(STAMP, '$1$2:$3:$4.$5');
  return { path: join(dirname(file), name), keptAt };
}

/**
 * Replaces the file with the newest copy, after the same checks as in `editSettings`. The replaced
 * file becomes a copy, so that undoing twice restores it. If there is no copy, the file is not
 * changed.
 */
export function undoSettings(options: EditSettingsOptions): SettingsEditResult {
  const copy = findLastCopy(options.file);
  if (copy === undefined) return { kind: 'unchanged' };
  const read = readTextFile(copy.path, LARGEST_SETTINGS_BYTES);
  return read.kind === 'text' ? writeSettings(read.text, options) : { kind: 'unchanged' };
}

function writeSettings(
  text: string,
  { file, check, now }: EditSettingsOptions,
): SettingsEditResult {
  const read = readTextFile(file, LARGEST_SETTINGS_BYTES);
  if (read.kind === 'text' && read.text === text) return { kind: 'unchanged' };
  const before = check(file);
  writeDraft(file, text);
  try {
    const found = listNewProblems(before, check(getDraftPath(file)));
    if (found.length > 0) return { kind: 'refused', problems: found };
    const kept = read.kind === 'text' ? `${file}.before-${formatCopyStamp(now)}` : null;
    applyDraft(file, kept);
    dropOldCopies(file);
    return { kind: 'written', kept };
  } finally {
    deleteDraft(file);
  }
}

/**
 * Returns the path to an account's settings; if a channel has only one account, its settings may be
 * without a name.
 */
export function findAccountPath(
  file: string,
  { channel, account }: { readonly channel: string; readonly account: string },
): SettingsPath {
  const read = readTextFile(file, LARGEST_SETTINGS_BYTES);
  const document = parseEditableDocument(read.kind === 'text' ? read.text : '');
  const isNamed = document.hasIn(['channels', channel, 'accounts']);
  const path = ['channels', channel];
  return isNamed || account !== 'default' ? [...path, 'accounts', account] : path;
}

/** Lists the problems that a change introduces, or all problems if Parley would not start. */
export function listNewProblems(
  before: SettingsResult,
  after: SettingsResult,
): readonly SettingsProblem[] {
  const known = new Set(listProblems(before).map(toProblemKey));
  return listProblems(after).filter(
    (problem) => after.kind === 'invalid' || !known.has(toProblemKey(problem)),
  );
}

/**
 * Lists all problems with a file, including its accounts and keys without effect. A package may be
 * installed after the settings that name it were written.
 */
function listProblems(result: SettingsResult): readonly SettingsProblem[] {
  if (result.kind === 'invalid') return result.problems;
  const accounts = Object.values(result.channels).flatMap((account) =>
    account.kind === 'broken' ? account.problems : [],
  );
  return [...accounts, ...result.warnings.filter(({ kind }) => kind !== 'not-installed')];
}

/** Identifies a problem without its position, which changes when earlier lines change. */
function toProblemKey({ kind, path, expected, file }: SettingsProblem): string {
  return JSON.stringify([kind, path, expected, file]);
}

function formatCopyStamp(now: Date): string {
  return now.toISOString().replaceAll(/[:.]/g, '-');
}

/** Matches the timestamp that `formatCopyStamp` writes; a copy created by a person has a different name. */
const STAMP = /^(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\d)-(\d{3}Z)$/;

function dropOldCopies(file: string): void {
  for (const name of listCopyNames(file).slice(0, -MAX_COPIES)) {
    rmSync(join(dirname(file), name), { force: true });
  }
}

/** Lists the names of the copies, newest last. */
function listCopyNames(file: string): readonly string[] {
  let names: readonly string[];
  try {
    names = readdirSync(dirname(file));
  } catch (error) {
    if (isMissingFile(error)) return [];
    throw error;
  }
  const start = `${basename(file)}.before-`;
  return names
    .filter((name) => name.startsWith(start) && STAMP.test(name.slice(start.length)))
    .toSorted();
}

type DocumentPath = (string | number)[];

/**
 * Restores the secrets that are hidden in a text, if the value at the same path in `before` is
 * hidden in the same way. A secret that has moved must be entered again. Pure.
 */
export function restoreSecrets(
  text: string,
  before: string,
  hide: (text: string) => string,
):
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'refused'; readonly problems: readonly SettingsProblem[] } {
  // YAML would parse a pair of brackets as a list, so a placeholder is used.
  const readable = text.replaceAll(HIDDEN, STAND_IN);
  const [young, old] = [parseDocument(readable), parseDocument(before)];
  const problems: SettingsProblem[] = [];
  let whole = readable;
  for (const { path, from, to } of listScalars(young).toReversed()) {
    const shown = readable.slice(from, to);
    if (!shown.includes(STAND_IN)) continue;
    const known = findSourceText(old, before, path);
    const hidden = shown.replaceAll(STAND_IN, HIDDEN);
    if (known !== undefined && stripQuotes(hide(known)) === stripQuotes(hidden)) {
      whole = whole.slice(0, from) + known + whole.slice(to);
    } else
      problems.push({
        kind: 'value',
        path: formatPath(path),
        found: HIDDEN,
        expected: ENTER_SECRET_AGAIN,
      });
  }
  if (problems.length > 0) return { kind: 'refused', problems };
  return {
    kind: 'text',
    text: restoreHiddenLines(whole.replaceAll(STAND_IN, HIDDEN), before, hide),
  };
}

/** A hidden secret needs quotes if it is written as a value. */
const stripQuotes = (text: string): string => /^(['"])(.*)\1$/s.exec(text)?.[2] ?? text;

/** The text shown instead of a secret. */
const HIDDEN = '[secret]';
const STAND_IN = 'parley-hidden-secret';
const ENTER_SECRET_AGAIN =
  'the secret itself; enter it again, because the previous value there was hidden';

/** Restores whole lines of comments that contained secrets. */
function restoreHiddenLines(text: string, before: string, hide: (text: string) => string): string {
  if (!text.includes(HIDDEN)) return text;
  const known = new Map(before.split('\n').map((line) => [hide(line), line]));
  return text
    .split('\n')
    .map((line) => (line.includes(HIDDEN) ? (known.get(line) ?? line) : line))
    .join('\n');
}

/** Lists a document's values and their positions in its text. */
function listScalars(document: Document): { path: DocumentPath; from: number; to: number }[] {
  const found: { path: DocumentPath; from: number; to: number }[] = [];
  visit(document, {
    Scalar(key, node, above) {
      if (key === 'key' || node.range === undefined || node.range === null) return;
      const path = getNodePath(above, key);
      found.push({ path, from: node.range[0], to: node.range[1] });
    },
  });
  return found;
}

function getNodePath(above: readonly unknown[], key: unknown): DocumentPath {
  const path: DocumentPath = [];
  for (const [index, node] of above.entries()) {
    if (typeof node !== 'object' || node === null) continue;
    if ('key' in node && isScalar(node.key)) path.push(String(node.key.value));
    const next = above[index + 1];
    if ('items' in node && Array.isArray(node.items) && next !== undefined) {
      const at = node.items.indexOf(next);
      if (at >= 0 && !(typeof next === 'object' && next !== null && 'key' in next)) path.push(at);
    }
  }
  if (typeof key === 'number') path.push(key);
  return path;
}

function findSourceText(document: Document, text: string, path: DocumentPath): string | undefined {
  const node = document.getIn(path, true);
  if (!isScalar(node) || node.range === undefined || node.range === null) return undefined;
  return text.slice(node.range[0], node.range[1]);
}
