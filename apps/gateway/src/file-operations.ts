import { change, read, refusal } from '@parley/core';
import type { Scrub } from '@parley/core/telemetry/scrubber';
import { coversFile, type PromptFiles, SOUL, type Workspace } from '@parley/workspace';
import { z } from 'zod';

/** The Markdown files of a workspace, with their history (U03). */
export interface OperatorFiles {
  readonly workspace: Pick<Workspace, 'editor' | 'folder'>;
  /** The titles of chats by their memory files. */
  readonly chats: () => Promise<ReadonlyMap<string, { readonly title: string }>>;
}

interface FileNeeds {
  readonly scrub: Scrub;
  /** Those of the agent of that name, or of the default one. */
  files(agent: string | undefined): Promise<OperatorFiles>;
  /** The workspace files that become prompt text. */
  promptFiles(agent: string | undefined): Promise<Pick<PromptFiles, 'patterns'>>;
}

/** Longer than any path that a workspace takes. */
const Name = { name: z.string().min(1).max(300) };
const Version = { ...Name, version: z.string().max(300) };

/** They hold what the owner alone may see, and what the agent follows. Their texts were written by people and models. */
export const operations = {
  list: read(
    'Files by name, and the names of those of which only versions are left',
    {},
    async (needs: FileNeeds, _, { agent }) => {
      const { workspace, chats } = await needs.files(agent);
      const { editor, folder } = workspace;
      const { patterns } = await needs.promptFiles(agent);
      const [files, removed, known] = await Promise.all([editor.list(), editor.removed(), chats()]);
      const shown = files.map((file) => ({
        ...file,
        /** The one chat that may see its text, where it is known. */
        chat: known.get(file.name)?.title,
        /** A layer, source or hook of this agent reads it for prompts. */
        isPromptFile:
          file.name === SOUL || patterns.some((pattern) => coversFile(pattern, file.name)),
      }));
      return { folder, files: shown, removed };
    },
    { running: true },
  ),
  open: read(
    'One file with its versions, the newest first; null `text` and `print`: there is none',
    Name,
    async ({ files }: FileNeeds, { name }, { agent }) => {
      const { editor } = (await files(agent)).workspace;
      const [file, versions] = await Promise.all([editor.read(name), editor.versions(name)]);
      const shown = versions.map(({ name: version, at, why }) => ({ version, at, why }));
      const { text = null, print = null } = file ?? {};
      // SOUL.md changes by proposals alone (W06).
      return { name, text, print, isGoverned: name === SOUL, versions: shown };
    },
  ),
  save: change(
    'Write a file; `base` is the print that the text was made from, null for a new file',
    /** A null text removes the file. */
    { ...Name, base: z.string().max(100).nullable(), text: z.string().max(1_000_000).nullable() },
    async ({ files, scrub }: FileNeeds, { name, base, text }, { agent, caller: { name: by } }) => {
      const { editor } = (await files(agent)).workspace;
      const before = text?.includes(HIDDEN) ? (await editor.read(name))?.text : undefined;
      const whole = text === null ? null : withSecretLines(name, text, before ?? '', scrub);
      return editor.save(name, { base, text: whole, by });
    },
  ),
  version: read(
    'A version of a file, and its differences from the file as it is now',
    Version,
    async ({ files }: FileNeeds, { name, version }, { agent }) => {
      const { editor } = (await files(agent)).workspace;
      const [text, now] = await Promise.all([editor.version(name, version), editor.read(name)]);
      if (text === null) throw refusal('no-version', `${name} has no version ${version}.`);
      // The agent is loaded for a comparison alone.
      const { soulDiff } = await import('@parley/agent');
      return { text, diff: text === now?.text ? '' : soulDiff(text, now?.text ?? '') };
    },
  ),
  restore: change(
    'Put a file back to a version; what is in it now is kept as one',
    Version,
    async ({ files }: FileNeeds, { name, version }, { agent, caller }) =>
      (await files(agent)).workspace.editor.restore(name, version, caller.name),
  ),
};

/** Shown instead of a secret. */
const HIDDEN = '[secret]';

/** The text with the lines in which secrets were hidden as they are in the file. Throws where one was edited. */
function withSecretLines(name: string, text: string, before: string, scrub: Scrub): string {
  const lines = before.split('\n').filter((line) => scrub(line) !== line);
  if (lines.length === 0) return text;
  return text
    .split('\n')
    .map((line) => {
      if (!line.includes(HIDDEN)) return line;
      const at = lines.findIndex((known) => scrub(known) === line);
      const [known] = at === -1 ? [] : lines.splice(at, 1);
      if (known !== undefined) return known;
      throw refusal(
        'hidden-secret',
        `${name}: nothing was saved: a line with ${HIDDEN} was changed. Leave it as it is, or write the secret itself.`,
      );
    })
    .join('\n');
}
