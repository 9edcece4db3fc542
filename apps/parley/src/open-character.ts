import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '@parley/contracts';
import { configPath } from '@parley/contracts/installation';
import type { Character, NamedText } from '@parley/prompt';
import type { Workspace, WorkspaceView } from '@parley/workspace';
import type { LoadedSettings } from './read-settings.ts';

const CONFIG = configPath('');

type Folder = 'personas' | 'output-formats';

/**
 * What the settings say of the part the agent plays, with the texts that come with Parley. A name
 * behind which there is nothing is told in the log, with those that exist; the agent goes on without.
 */
export async function openCharacter(
  { persona, format, ephemeral, skipContextFiles }: LoadedSettings['settings']['agent'],
  workspace: Workspace,
  log: Logger,
): Promise<Character> {
  const view = workspace.for({ kind: 'guest', conversationId: 'start' });
  return {
    persona: await namedText('personas', persona, view, log),
    format: await namedText('output-formats', format, view, log),
    ephemeral,
    skipContextFiles,
  };
}

async function namedText(
  folder: Folder,
  name: string | undefined,
  view: WorkspaceView,
  log: Logger,
): Promise<NamedText | undefined> {
  if (name === undefined) return undefined;
  const house = await houseText(folder, name);
  const own = await view.read(`${folder}/${name}.md`);
  if (house === null && own.kind === 'absent' && own.reason === 'missing') {
    const exist = await namesIn(folder, view);
    log.warn({ folder, name, exist }, 'the settings name a file that does not exist');
  }
  return { name, house };
}

async function houseText(folder: Folder, name: string): Promise<string | null> {
  try {
    return (await readFile(join(CONFIG, folder, `${name}.md`), 'utf8')).trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

/** What can be chosen: from the workspace, as far as everybody may see it, and what Parley brings. */
async function namesIn(folder: Folder, view: WorkspaceView): Promise<string[]> {
  const own = (await view.list()).map(({ name }) => name.split('/'));
  const files = own.flatMap(([top, file]) => (top === folder && file !== undefined ? [file] : []));
  const house = await readdir(join(CONFIG, folder));
  return [...new Set([...files, ...house].map((file) => file.replace(/\.md$/, '')))].toSorted();
}
