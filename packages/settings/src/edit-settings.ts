import { createHash } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { changeText, type SettingsChange } from './change-text.ts';
import { parseSettings } from './document.ts';
import { withSecrets } from './hidden-secrets.ts';
import { type SettingsResult, settingsTemplate } from './load-settings.ts';
import { LARGEST_SETTINGS_BYTES, readTextFile } from './read-text.ts';
import { draftOf, dropDraft, parseForWriting, useDraft, writeDraft } from './settings-file.ts';
import type { SettingsPath, SettingsProblem } from './source.ts';

export type { SettingsChange, SettingsValue } from './change-text.ts';

export interface EditSettingsOptions {
  /** One that is not there is written from the template of a first start. */
  readonly file: string;
  /** Checks a file as a start does: `loadSettings` with the options of this installation. */
  readonly check: (file: string) => SettingsResult;
  /** Names the copy of the file as it was. */
  readonly now: Date;
}

/** What became of the changes. */
export type SettingsEdited =
  /** `kept` is where the file as it was lies; null where there was none. */
  | { readonly kind: 'written'; readonly kept: string | null }
  /** The file says so already. */
  | { readonly kind: 'unchanged' }
  /** Nothing was written: Parley or an account would not start, or a key is unknown. */
  | { readonly kind: 'refused'; readonly problems: readonly SettingsProblem[] };

/** Copies of the file as it was; older ones are removed. */
const MOST_KEPT = 10;

/**
 * Changes the settings file and leaves the rest of it as it is written: comments, references, order, spaces. All of
 * the changes are made, or none: what would not start is refused with its problems, and a problem that the file
 * has already, in an account that is broken, is no obstacle. Works synchronously, so that changes of one process
 * never mix. A running Parley takes the file over by itself.
 *
 * Throws `SettingsError` where the file cannot be read or written at all.
 *
 * @example
 * editSettings(
 *   [{ kind: 'add', path: ['channels', 'telegram', 'access', 'allowGroups'], value: '-100123', comment: 'Family' }],
 *   { file, check, now: new Date() },
 * );
 */
export function editSettings(
  changes: readonly SettingsChange[],
  { file, check, now }: EditSettingsOptions,
): SettingsEdited {
  const changed = changeText(readWritten(file).text, changes);
  if (changed.kind === 'refused') {
    // A file that is no YAML is explained by the check, with its place.
    const broken = check(file);
    return broken.kind === 'invalid' ? { kind: 'refused', problems: broken.problems } : changed;
  }
  return writeSettings(changed.text, { file, check, now });
}

/** The settings file as it is written; the template of a first start where there is none. */
export interface WrittenSettings {
  readonly text: string;
  /** Another one for another text. */
  readonly print: string;
  /** References as such; null where it is no valid YAML. */
  readonly values: object | null;
}

/** Throws `SettingsError` where the file cannot be read at all. */
export function readWritten(file: string): WrittenSettings {
  const read = readTextFile(file, LARGEST_SETTINGS_BYTES);
  const text = read.kind === 'text' ? read.text : settingsTemplate();
  const document = parseSettings(text);
  return {
    text,
    print: createHash('sha256').update(text).digest('base64url'),
    values: document.kind === 'document' ? document.value : null,
  };
}

/**
 * Puts a whole text in the place of the file, as `editSettings` does it with changes. Where the text shows a
 * secret hidden, as `hide` leaves it, the one that the file has there stays.
 */
export function replaceSettings(
  text: string,
  hide: (text: string) => string,
  options: EditSettingsOptions,
): SettingsEdited {
  const whole = withSecrets(text, readWritten(options.file).text, hide);
  return whole.kind === 'refused' ? whole : writeSettings(whole.text, options);
}

function writeSettings(text: string, { file, check, now }: EditSettingsOptions): SettingsEdited {
  const read = readTextFile(file, LARGEST_SETTINGS_BYTES);
  if (read.kind === 'text' && read.text === text) return { kind: 'unchanged' };
  const problems = new Set(problemsOf(check(file)).map(printOf));
  writeDraft(file, text);
  try {
    const result = check(draftOf(file));
    const found = problemsOf(result).filter(
      (problem) => result.kind === 'invalid' || !problems.has(printOf(problem)),
    );
    if (found.length > 0) return { kind: 'refused', problems: found };
    const kept = read.kind === 'text' ? `${file}.before-${stampOf(now)}` : null;
    useDraft(file, kept);
    dropOldCopies(file);
    return { kind: 'written', kept };
  } finally {
    dropDraft(file);
  }
}

/** Where the settings of an account are: a channel with one account may have them without a name. */
export function accountPath(
  file: string,
  { channel, account }: { readonly channel: string; readonly account: string },
): SettingsPath {
  const read = readTextFile(file, LARGEST_SETTINGS_BYTES);
  const document = parseForWriting(read.kind === 'text' ? read.text : '');
  const isNamed = document.hasIn(['channels', channel, 'accounts']);
  const path = ['channels', channel];
  return isNamed || account !== 'default' ? [...path, 'accounts', account] : path;
}

/** All that is wrong with a file, in its accounts as well, and keys that have no effect. */
function problemsOf(result: SettingsResult): readonly SettingsProblem[] {
  if (result.kind === 'invalid') return result.problems;
  const accounts = Object.values(result.channels).flatMap((account) =>
    account.kind === 'broken' ? account.problems : [],
  );
  return [...accounts, ...result.warnings];
}

/** Without its place, which a change above it moves. */
function printOf({ kind, path, expected, file }: SettingsProblem): string {
  return JSON.stringify([kind, path, expected, file]);
}

function stampOf(now: Date): string {
  return now.toISOString().replaceAll(/[:.]/g, '-');
}

function dropOldCopies(file: string): void {
  const copies = readdirSync(dirname(file)).filter((name) =>
    name.startsWith(`${basename(file)}.before-`),
  );
  for (const name of copies.toSorted().slice(0, -MOST_KEPT)) {
    rmSync(join(dirname(file), name), { force: true });
  }
}
