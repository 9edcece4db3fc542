import { copyFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { reasonOf } from '@parley/core';
import { type Document, parseDocument, visit } from 'yaml';
import { SettingsError } from './read-text.ts';

/**
 * Reads settings as YAML nodes that are going to be written again: with their comments, and with numbers that
 * are longer than JavaScript's, such as ids of Discord, digit by digit.
 */
export function parseForWriting(text: string): Document {
  const document = parseDocument(text, { schema: 'core', logLevel: 'error' });
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value !== 'number' || Number.isSafeInteger(node.value)) return;
      if (node.source !== undefined && /^-?\d+$/.test(node.source)) {
        node.value = BigInt(node.source);
      }
    },
  });
  return document;
}

/** Where a text lies until it has taken the place of `file`: in the same folder, so that relative paths in it hold. */
export function draftOf(file: string): string {
  return `${file}.new`;
}

/** Writes a draft beside the settings file, with the mode of that file: there may be secrets in it. */
export function writeDraft(file: string, text: string): void {
  unlessUnwritable(file, () => {
    const mode = (statSync(file, { throwIfNoEntry: false })?.mode ?? 0o600) & 0o777;
    rmSync(draftOf(file), { force: true });
    writeFileSync(draftOf(file), text, { mode });
  });
}

/**
 * Puts the draft in the place of the file in one step, and the file as it was at `kept`, if there was one. Throws
 * `SettingsError` where that is not possible; the file is as it was then.
 */
export function useDraft(file: string, kept: string | null): void {
  unlessUnwritable(file, () => {
    if (kept !== null) copyFileSync(file, kept);
    // A link stays one.
    renameSync(draftOf(file), kept === null ? file : realpathSync(file));
  });
}

export function dropDraft(file: string): void {
  rmSync(draftOf(file), { force: true });
}

function unlessUnwritable(file: string, write: () => void): void {
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
