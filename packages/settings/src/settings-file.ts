import {
  closeSync,
  copyFileSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { decodeText, isMissingFile, ParleyError, reasonOf } from '@parley/core';
import { type Document, parseDocument, visit } from 'yaml';

/**
 * The maximum size of a settings file, in bytes. Settings written by people are far smaller; a
 * larger file is probably the wrong one and would take long to parse.
 */
export const LARGEST_SETTINGS_BYTES = 1_000_000;

/** The text of a file; a missing file is not an error, because every setting has a default. */
type TextFile = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'missing' };

/**
 * Reads a text file of at most `largestBytes` in UTF-8, UTF-16 or UTF-32. Pipes and devices are
 * supported, but not read beyond that size. Throws `SettingsError` for a directory, denied access,
 * a larger file, or another encoding.
 */
export function readTextFile(file: string, largestBytes: number): TextFile {
  const bytes = readFileUpTo(file, largestBytes + 1);
  if (bytes === undefined) return { kind: 'missing' };
  if (bytes.length > largestBytes) {
    throw new SettingsError(
      'settings-too-large',
      `${file} is larger than ${largestBytes.toLocaleString('en')} bytes. Is it the right file?`,
    );
  }
  return { kind: 'text', text: decodeSettings(file, bytes) };
}

function readFileUpTo(file: string, limit: number): Buffer | undefined {
  let handle: number | undefined;
  try {
    handle = openSync(file, 'r');
    const chunks: Buffer[] = [];
    for (let total = 0; total < limit; ) {
      const chunk = Buffer.alloc(Math.min(65_536, limit - total));
      const read = readSync(handle, chunk, 0, chunk.length, null);
      if (read === 0) break;
      chunks.push(chunk.subarray(0, read));
      total += read;
    }
    return Buffer.concat(chunks);
  } catch (error) {
    if (isMissingFile(error)) return undefined;
    throw createUnreadableError(file, error);
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

function createUnreadableError(file: string, cause: unknown): SettingsError {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (code === 'EISDIR') {
    return new SettingsError(
      'settings-is-directory',
      `${file} is a directory. Give the path of a file.`,
      cause,
    );
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return new SettingsError(
      'settings-unreadable',
      `${file} cannot be read by this user (permission denied). Change its owner or its mode (chmod 600).`,
      cause,
    );
  }
  return new SettingsError(
    'settings-unreadable',
    `${file} cannot be read: ${reasonOf(cause)}`,
    cause,
  );
}

/**
 * Decodes settings or secrets, which must be read exactly. UTF-8, UTF-16 and UTF-32 are read,
 * because PowerShell and Windows editors write them. Encodings that would require a guess or lose a
 * character are refused.
 */
function decodeSettings(file: string, bytes: Buffer): string {
  const { text, encoding, certainty, replaced } = decodeText(bytes);
  const isUnicode = encoding === 'utf-8' || (certainty === 'sure' && encoding.startsWith('utf-'));
  if (isUnicode && replaced === 0) return text;
  const lossy = bytes.toString('utf8');
  const line = lossy.slice(0, lossy.indexOf('\uFFFD')).split('\n').length;
  const seems = certainty === 'none' || encoding === 'utf-8' ? '' : `; it seems to be ${encoding}`;
  throw new SettingsError(
    'settings-encoding',
    `${file} is not valid UTF-8 (first bad byte on line ${line})${seems}. Save it as UTF-8 in your editor.`,
  );
}

/**
 * Why a settings file could not be read. Mistakes inside a readable file are `SettingsProblem`s.
 */
type SettingsErrorCode =
  | 'settings-is-directory'
  | 'settings-unreadable'
  | 'settings-too-large'
  | 'settings-encoding'
  | 'settings-unwritable';

/** Thrown when the settings file (or a secret file) cannot be read or written. */
export class SettingsError extends ParleyError {
  constructor(code: SettingsErrorCode, message: string, cause?: unknown) {
    super({ code, message, retryable: false, cause });
  }
}

/**
 * Parses settings into YAML nodes that will be written again, with their comments, and with all
 * digits of numbers that are too long for JavaScript, such as Discord ids.
 */
export function parseEditableDocument(text: string): Document {
  const document = parseDocument(text, { schema: 'core', logLevel: 'error' });
  preserveLongNumbers(document, BigInt);
  return document;
}

/**
 * Passes long numbers to `keep`: platform ids have up to 20 digits, and a JavaScript number would
 * lose the last ones.
 */
export function preserveLongNumbers(document: Document, keep: (digits: string) => unknown): void {
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value !== 'number' || Number.isSafeInteger(node.value)) return;
      if (node.source !== undefined && /^-?\d+$/.test(node.source)) node.value = keep(node.source);
    },
  });
}

/**
 * Returns the path of a draft in the folder of `file`, so that relative paths in the draft stay
 * valid.
 */
export function getDraftPath(file: string): string {
  return `${file}.new`;
}

/**
 * Writes a draft next to the settings file, with the mode of that file, because it may contain
 * secrets.
 */
export function writeDraft(file: string, text: string): void {
  reportWriteErrors(file, () => {
    const mode = (statSync(file, { throwIfNoEntry: false })?.mode ?? 0o600) & 0o777;
    rmSync(getDraftPath(file), { force: true });
    writeFileSync(getDraftPath(file), text, { mode });
  });
}

/**
 * Replaces the file with the draft atomically, after copying the old file, if there was one, to
 * `kept`. Throws `SettingsError`, leaving the file unchanged, if it cannot be replaced.
 */
export function applyDraft(file: string, kept: string | null): void {
  reportWriteErrors(file, () => {
    if (kept !== null) copyFileSync(file, kept);
    // A symbolic link is preserved.
    renameSync(getDraftPath(file), kept === null ? file : realpathSync(file));
  });
}

export function deleteDraft(file: string): void {
  rmSync(getDraftPath(file), { force: true });
}

function reportWriteErrors(file: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw new SettingsError(
      'settings-unwritable',
      `${file} cannot be written (${reasonOf(error)}). Make it and its folder writable.`,
      error,
    );
  }
}
