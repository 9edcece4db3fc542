import { defineChangeOperation, defineReadOperation } from '@parley/core';
import { z } from 'zod';
import type { SettingsResponse, SettingsWriteResult } from './http/api.ts';

/** A change to one value. Without `value`, the key is removed and its default applies. */
const ValueChange = z.strictObject({
  path: z
    .array(z.union([z.string(), z.int().nonnegative()]))
    .min(1)
    .readonly(),
  value: z.unknown().pipe(z.json()).optional(),
});

/**
 * Reads and changes the settings file. Secrets in the file are hidden when it is read and restored
 * when it is written.
 */
export interface OperatorSettings {
  show(): SettingsResponse;
  /** Returns the JSON Schema for editors. */
  schema(): object;
  /**
   * Writes the settings only if Parley could start with them. Throws ParleyError if the file is not
   * writable.
   */
  change(print: string, changes: readonly z.output<typeof ValueChange>[]): SettingsWriteResult;
  replace(print: string, text: string): SettingsWriteResult;
  /** Restores the copy of the file that was made before the last change. */
  undo(print: string): SettingsWriteResult;
}

interface SettingsOperationDeps {
  settingsFile(): Promise<OperatorSettings>;
}

/** The maximum length of the text, in characters. */
const MAX_TEXT = 1_000_000;
const MAX_CHANGES = 200;
/**
 * The version of the file on which the change is based, so that changes made in the meantime are
 * not overwritten.
 */
const Print = { print: z.string() };
const RUNNING = { running: true } as const;

/**
 * The settings control the whole installation (U03, D12), so these operations are for owners only.
 */
export const operations = {
  show: defineReadOperation(
    'Show the settings file as written, with its problems',
    {},
    async ({ settingsFile }: SettingsOperationDeps) => (await settingsFile()).show(),
    RUNNING,
  ),
  schema: defineReadOperation(
    'Show the JSON Schema of the settings file',
    {},
    async ({ settingsFile }: SettingsOperationDeps) => (await settingsFile()).schema(),
    RUNNING,
  ),
  change: defineChangeOperation(
    'Change values in the settings file; comments are kept',
    { ...Print, changes: z.array(ValueChange).min(1).max(MAX_CHANGES).readonly() },
    async ({ settingsFile }: SettingsOperationDeps, { print, changes }) =>
      (await settingsFile()).change(print, changes),
    RUNNING,
  ),
  replace: defineChangeOperation(
    'Replace the text of the settings file',
    { ...Print, text: z.string().max(MAX_TEXT) },
    async ({ settingsFile }: SettingsOperationDeps, { print, text }) =>
      (await settingsFile()).replace(print, text),
    RUNNING,
  ),
  undo: defineChangeOperation(
    'Restore the settings file to its state before the last saved change',
    Print,
    async ({ settingsFile }: SettingsOperationDeps, { print }) =>
      (await settingsFile()).undo(print),
    RUNNING,
  ),
};
