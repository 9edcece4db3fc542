import { createRefusalError, defineChangeOperation, defineReadOperation } from '@parley/core';
import type { Scrub } from '@parley/core/telemetry/scrubber';
import { matchesFilePattern, type PromptFiles, SOUL, type Workspace } from '@parley/workspace';
import { z } from 'zod';

/** A workspace's Markdown files and their history (U03). */
export interface OperatorFiles {
  readonly workspace: Pick<Workspace, 'editor' | 'folder'>;
  /** The titles of chats, keyed by the names of their memory files. */
  readonly chats: () => Promise<ReadonlyMap<string, { readonly title: string }>>;
}

interface FileOperationDeps {
  readonly scrub: Scrub;
  /** Returns the files of the named agent, or of the default agent if no name is given. */
  files(agent: string | undefined): Promise<OperatorFiles>;
  /** Returns the workspace files that become part of prompts. */
  promptFiles(agent: string | undefined): Promise<Pick<PromptFiles, 'patterns'>>;
}

/** The limit is longer than any path in a workspace. */
const Name = { name: z.string().min(1).max(300) };
const Version = { ...Name, version: z.string().max(300) };

/**
 * File operations are only for owners: the files contain private text and instructions for the
 * agent. The file names were written by people and models.
 */
export const operations = {
  list: defineReadOperation(
    'List files by name, and the names of deleted files with remaining versions',
    {},
    async (needs: FileOperationDeps, _, { agent }) => {
      const { workspace, chats } = await needs.files(agent);
      const { editor, folder } = workspace;
      const { patterns } = await needs.promptFiles(agent);
      const [files, removed, known] = await Promise.all([editor.list(), editor.removed(), chats()]);
      const shown = files.map((file) => ({
        ...file,
        /** If the file may be shown in only one chat, the title of this chat, if known. */
        chat: known.get(file.name)?.title,
        /** Whether a layer, source or hook of this agent reads the file for prompts. */
        isPromptFile:
          file.name === SOUL || patterns.some((pattern) => matchesFilePattern(pattern, file.name)),
      }));
      return { folder, files: shown, removed };
    },
    { running: true },
  ),
  open: defineReadOperation(
    'Show one file with its versions, newest first; `text` and `print` are null if it does not exist',
    Name,
    async ({ files }: FileOperationDeps, { name }, { agent }) => {
      const { editor } = (await files(agent)).workspace;
      const [file, versions] = await Promise.all([editor.read(name), editor.versions(name)]);
      const shown = versions.map(({ name: version, at, why }) => ({ version, at, why }));
      const { text = null, print = null } = file ?? {};
      // SOUL.md can only be changed through proposals (W06).
      return { name, text, print, isGoverned: name === SOUL, versions: shown };
    },
  ),
  save: defineChangeOperation(
    'Write a file; `base` is the hash of the version that you edited, or null for a new file',
    /** A null text removes the file. */
    { ...Name, base: z.string().max(100).nullable(), text: z.string().max(1_000_000).nullable() },
    async (
      { files, scrub }: FileOperationDeps,
      { name, base, text },
      { agent, caller: { name: by } },
    ) => {
      const { editor } = (await files(agent)).workspace;
      const before = text?.includes(HIDDEN) ? (await editor.read(name))?.text : undefined;
      const whole = text === null ? null : restoreSecretLines(name, text, before ?? '', scrub);
      return editor.save(name, { base, text: whole, by });
    },
  ),
  version: defineReadOperation(
    'Show a version of a file and how it differs from the current file',
    Version,
    async ({ files }: FileOperationDeps, { name, version }, { agent }) => {
      const { editor } = (await files(agent)).workspace;
      const [text, now] = await Promise.all([editor.version(name, version), editor.read(name)]);
      if (text === null)
        throw createRefusalError('no-version', `There is no version ${version} of ${name}.`);
      // The agent package is loaded only when a comparison needs it.
      const { diffSouls } = await import('@parley/agent');
      return { text, diff: text === now?.text ? '' : diffSouls(text, now?.text ?? '') };
    },
  ),
  restore: defineChangeOperation(
    'Restore a version of a file; the current content is saved as a version',
    Version,
    async ({ files }: FileOperationDeps, { name, version }, { agent, caller }) =>
      (await files(agent)).workspace.editor.restore(name, version, caller.name),
  ),
};

/** The placeholder that replaces a secret in shown text. */
const HIDDEN = '[secret]';

/**
 * Restores lines with hidden secrets from the previous version of the file. Throws if such a line
 * was edited.
 */
function restoreSecretLines(name: string, text: string, before: string, scrub: Scrub): string {
  const lines = before.split('\n').filter((line) => scrub(line) !== line);
  if (lines.length === 0) return text;
  return text
    .split('\n')
    .map((line) => {
      if (!line.includes(HIDDEN)) return line;
      const at = lines.findIndex((known) => scrub(known) === line);
      const [known] = at === -1 ? [] : lines.splice(at, 1);
      if (known !== undefined) return known;
      throw createRefusalError(
        'hidden-secret',
        `${name} was not saved, because a line with ${HIDDEN} was changed. Leave such lines unchanged, or write the secret itself.`,
      );
    })
    .join('\n');
}
