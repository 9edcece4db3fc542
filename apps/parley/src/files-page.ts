import { soulDiff } from '@parley/agent';
import type { Scrub } from '@parley/core/telemetry';
import type { FilesPage } from '@parley/gateway';
import { covers, type PromptFiles, SOUL, type Workspace } from '@parley/workspace';
import { CliError } from './data-folder.ts';

interface FilesPageDeps {
  readonly workspace: Workspace;
  /** The workspace files that become prompt text. */
  readonly promptFiles: Pick<PromptFiles, 'patterns'>;
  /** The titles of chats by their memory files. */
  readonly chats: () => Promise<ReadonlyMap<string, { readonly title: string }>>;
  /** Hides secrets, as the web server does with all that leaves it. */
  readonly scrub: Scrub;
}

/** The Markdown files of a workspace for the page, with their history. */
export function filesPage({ workspace, promptFiles, chats, scrub }: FilesPageDeps): FilesPage {
  const { editor, folder } = workspace;
  const isPromptFile = (name: string) =>
    name === SOUL || promptFiles.patterns.some((pattern) => covers(pattern, name));
  return {
    async list() {
      const [files, removed, known] = await Promise.all([editor.list(), editor.removed(), chats()]);
      const shown = files.map((file) => {
        const chat = known.get(file.name)?.title;
        const isPrompt = { isPromptFile: isPromptFile(file.name) };
        return { ...file, ...isPrompt, ...(chat !== undefined && { chat }) };
      });
      return { folder, files: shown, removed };
    },
    async open(name) {
      const [file, versions] = await Promise.all([editor.read(name), editor.versions(name)]);
      const shown = versions.map(({ name: version, at, why }) => ({ version, at, why }));
      const { text = null, print = null } = file ?? {};
      return { name, text, print, isGoverned: name === SOUL, versions: shown };
    },
    async save(name, { base, text }, by) {
      const before = text?.includes(HIDDEN) ? (await editor.read(name))?.text : undefined;
      const whole = text === null ? null : withSecretLines(name, text, before ?? '', scrub);
      return editor.save(name, { base, text: whole, by });
    },
    async version(name, version) {
      const [text, now] = await Promise.all([editor.version(name, version), editor.read(name)]);
      if (text === null) throw new CliError('no-version', `${name} has no version ${version}.`);
      return { text, diff: text === now?.text ? '' : soulDiff(text, now?.text ?? '') };
    },
    restore: (name, version, by) => editor.restore(name, version, by),
  };
}

/** What stands in the place of a secret. */
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
      throw new CliError(
        'hidden-secret',
        `${name}: nothing was saved: a line with ${HIDDEN} was changed. Leave it as it is, or write the secret itself.`,
      );
    })
    .join('\n');
}
