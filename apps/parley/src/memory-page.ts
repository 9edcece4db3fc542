import type { MemoryCommands, MemoryService } from '@parley/agent';
import { type Reader, shownLiteral } from '@parley/core';
import type { MemoryPage } from '@parley/gateway';
import type { PersonMemories, ShownMemory } from '@parley/gateway/api';
import {
  type MemorySearch,
  parseMemoryFile,
  SAVED_FILES,
  type SavedMemory,
  type Workspace,
} from '@parley/workspace';
import { CliError } from './data-folder.ts';

/** A chat that has a memory file of its own. */
export interface MemoryChat {
  readonly title: string;
  readonly conversationId: string;
  /** Of whom it is the direct chat. */
  readonly person: string | null;
}

interface MemoryPageDeps {
  readonly workspace: Workspace;
  /** Absent: memory is switched off. */
  readonly service?: Pick<MemoryService, 'list'> | undefined;
  readonly search?: MemorySearch | undefined;
  readonly commands?: Partial<MemoryCommands> | undefined;
  /** By the name of the file. */
  readonly chats: () => Promise<ReadonlyMap<string, MemoryChat>>;
  readonly owners: readonly string[];
}

/** The page is its owner's alone; what belongs to one chat is read through the view of that chat. */
const PAGE_READER: Reader = { kind: 'owner', conversationId: 'page' };
const MOST_FOUND = 30;
const WHOLE = Number.MAX_SAFE_INTEGER;

/** What is known about whom, and how it is forgotten (G15): `/memory` and `/forget` for the page. */
export function memoryPage(deps: MemoryPageDeps): MemoryPage {
  const { workspace, service, search, commands, chats, owners } = deps;
  const view = workspace.for(PAGE_READER);
  return {
    async report(words) {
      const isOff = service === undefined || search === undefined;
      if (isOff) return { isOff, people: [], page: [], notes: [], found: [] };
      const known = await chats();
      const memories = await allMemories(workspace, service, known);
      const place = { conversation: PAGE_READER.conversationId, session: 0, most: MOST_FOUND };
      const hits = words ? await search.find(view, words, place) : [];
      const people = byPerson(memories.filter(matcher(words)), known);
      const page = await itemsOfPage(workspace);
      return {
        isOff,
        people,
        page: page.filter((text) => !words || has(text, words)),
        notes: words ? [] : await notesOf(workspace),
        found: hits
          .filter(({ entry }) => entry === undefined)
          .map(({ source, text }) => ({ file: source, text })),
      };
    },
    async forget(order) {
      if (commands?.forgetFrom === undefined || commands.forgetPerson === undefined) {
        throw new CliError('memory-off', 'Memory is switched off in the settings (agent.memory).');
      }
      const known = await chats();
      const readerOf = ({ conversationId }: MemoryChat): Reader => ({
        kind: 'guest',
        conversationId,
      });
      if (order.kind === 'person') {
        const { person } = order;
        const readers = [PAGE_READER, ...[...known.values()].map(readerOf)] as const;
        const whom = { person, isOwner: owners.includes(person) };
        return { text: plain(await commands.forgetPerson(whom, readers)) };
      }
      if (order.kind === 'words') {
        return { text: plain(await commands.forgetFrom(PAGE_READER, order.words)) };
      }
      const chat = known.get(order.file);
      const what = { name: order.file, id: order.id };
      const reader = chat === undefined ? PAGE_READER : readerOf(chat);
      return { text: plain(await commands.forgetFrom(reader, what)) };
    },
  };
}

async function allMemories(
  workspace: Workspace,
  service: Pick<MemoryService, 'list'>,
  chats: ReadonlyMap<string, MemoryChat>,
): Promise<readonly SavedMemory[]> {
  const own = await service.list(workspace.for(PAGE_READER));
  const lists = [own];
  for (const { conversationId } of chats.values()) {
    lists.push(await service.list(workspace.for({ kind: 'guest', conversationId })));
  }
  return lists.flat();
}

function byPerson(
  memories: readonly SavedMemory[],
  chats: ReadonlyMap<string, MemoryChat>,
): readonly PersonMemories[] {
  const people = new Map<string | null, ShownMemory[]>();
  for (const { name: file, entry } of memories.toReversed()) {
    const { id, text, type, scope, date, words, automatic, person } = entry;
    const how = automatic ? 'saved by itself' : words === 'agent' ? 'a note of the agent' : null;
    const chat = chats.get(file)?.title;
    const facts = [type, scope, date, how, chat && `in ${chat} alone`].filter(Boolean).join(', ');
    const list = people.get(person) ?? [];
    list.push({ id, text, file, facts });
    people.set(person, list);
  }
  const direct = new Map([...chats.values()].map(({ person, title }) => [person, title]));
  return [...people].map(([person, list]) => {
    const name = person === null ? null : (direct.get(person) ?? null);
    return { person, name, memories: list };
  });
}

function matcher(words = ''): (memory: SavedMemory) => boolean {
  return ({ entry }) => has(entry.text, words) || has(entry.person ?? '', words);
}

function has(text: string, words: string): boolean {
  return text.toLowerCase().includes(words.trim().toLowerCase());
}

/** One line each, as `/forget WORDS` removes lines. */
async function itemsOfPage(workspace: Workspace): Promise<readonly string[]> {
  const file = await workspace.for(PAGE_READER).read('MEMORY.md', WHOLE);
  if (file.kind === 'absent') return [];
  return parseMemoryFile(file.text, 'project').map(({ text }) => text);
}

async function notesOf(workspace: Workspace) {
  const saved: readonly string[] = Object.values(SAVED_FILES);
  const notes = (await workspace.editor.list()).filter(
    ({ name }) => name.startsWith('memory/') && !saved.includes(name),
  );
  return notes.map(({ name: file, tokens }) => ({ file, tokens })).toReversed();
}

/** The answer of `/forget` without its Markdown: ids and names of files, never text of people. */
function plain(text: string): string {
  // Literal text keeps its own signs.
  return shownLiteral(text.replaceAll(/\*\*|`/g, ''));
}
