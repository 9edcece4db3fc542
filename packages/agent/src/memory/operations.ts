import {
  createRefusalError,
  decodeLiteralText,
  defineChangeOperation,
  defineReadOperation,
  type Reader,
} from '@parley/core';
import {
  type MemorySearch,
  parseMemoryFile,
  SAVED_FILES,
  type SavedMemory,
  type Workspace,
} from '@parley/workspace';
import { z } from 'zod';
import type { MemoryCommands } from './memory-commands.ts';
import type { MemoryService } from './memory-service.ts';

export { listMemoriesOfConversation } from './visible-memories.ts';

/** A chat that has a memory file. */
export interface MemoryChat {
  readonly title: string;
  readonly conversationId: string;
  /** The person in a direct chat; null for other chats. */
  readonly person: string | null;
}

/** The memories of one agent (G15). */
export interface OperatorMemory {
  readonly workspace: Workspace;
  /** Absent if memory is switched off in the settings. */
  readonly service?: Pick<MemoryService, 'list' | 'rebuild'> | undefined;
  readonly search?: MemorySearch | undefined;
  readonly commands?: Partial<MemoryCommands> | undefined;
  /** The chats, by the names of their memory files. */
  readonly chats: () => Promise<ReadonlyMap<string, MemoryChat>>;
  readonly owners: readonly string[];
}

interface MemoryOperationDeps {
  /** Returns the memories of the agent with that name, or of the default agent. */
  memory(agent: string | undefined): Promise<OperatorMemory>;
}

/** One memory: a line in a file. */
interface ListedMemory {
  readonly id: string;
  readonly text: string;
  readonly file: string;
  /** The details of a memory, such as `preference, 2026-11-21, saved automatically`. */
  readonly facts: string;
}

/** The memories about one person. `person` is null for lines without a name. */
interface PersonMemories {
  /** `telegram:42`. */
  readonly person: string | null;
  readonly name: string | null;
  readonly memories: readonly ListedMemory[];
}

interface MemoryReport {
  /** Thrown if memory is switched off in the settings. */
  readonly isOff: boolean;
  readonly people: readonly PersonMemories[];
  /** The list items of MEMORY.md. */
  readonly page: readonly string[];
  /** The other memory files, newest first. */
  readonly notes: readonly { readonly file: string; readonly tokens: number }[];
  /** Passages in notes and knowledge, best match first. */
  readonly found: readonly { readonly file: string; readonly text: string }[];
}

/**
 * Memories about one chat are read through that chat's view, everything else through the owner's.
 */
const OWNER: Reader = { kind: 'owner', conversationId: 'page' };
const MAX_FOUND = 30;
const MAX_SEARCHED = 10;
const WHOLE = Number.MAX_SAFE_INTEGER;

/**
 * Lists and forgets what is saved about people (G15): the equivalent of `/memory` and `/forget`
 * outside a chat.
 */
export const operations = {
  report: defineReadOperation(
    'Saved memories, lists and notes; with words, only those that contain them',
    { words: z.string().max(500).optional() },
    async ({ memory }: MemoryOperationDeps, { words }, { agent }): Promise<MemoryReport> => {
      const { workspace, service, search, chats } = await memory(agent);
      const isOff = service === undefined || search === undefined;
      if (isOff) return { isOff, people: [], page: [], notes: [], found: [] };
      const known = await chats();
      const memories = await listAllMemories(workspace, service, known);
      const place = { conversation: OWNER.conversationId, session: 0, most: MAX_FOUND };
      const hits = words ? await search.find(workspace.for(OWNER), words, place) : [];
      const page = await listPageItems(workspace);
      return {
        isOff,
        people: groupByPerson(memories.filter(createMatcher(words)), known),
        page: page.filter((text) => !words || containsWords(text, words)),
        notes: words ? [] : await listNotes(workspace),
        found: hits
          .filter(({ entry }) => entry === undefined)
          .map(({ source, text }) => ({ file: source, text })),
      };
    },
  ),
  search: defineReadOperation(
    'Search memories, notes and knowledge, best match first',
    { words: z.string().trim().min(1).max(500) },
    async ({ memory }: MemoryOperationDeps, { words }, { agent }) => {
      const { workspace, search = throwMemoryDisabled() } = await memory(agent);
      const place = { conversation: OWNER.conversationId, session: 0, most: MAX_SEARCHED };
      const hits = await search.find(workspace.for(OWNER), words, place);
      return { hits: hits.map(({ source, text }) => ({ source, text })) };
    },
  ),
  rebuild: defineChangeOperation(
    'Rebuild the index of memories from the files',
    {},
    async ({ memory }: MemoryOperationDeps, _, { agent }) => {
      const { workspace, service = throwMemoryDisabled() } = await memory(agent);
      return { memories: await service.rebuild(workspace.for(OWNER)) };
    },
  ),
  forget: defineChangeOperation(
    'Remove a memory from the files, the history and the prompts',
    { file: z.string().min(1).max(300), id: z.string().max(100) },
    async ({ memory }: MemoryOperationDeps, { file, id }, { agent }) => {
      const own = await memory(agent);
      const chat = (await own.chats()).get(file);
      const what = { name: file, id };
      return toPlainAnswer(
        requireForgetting(own).forgetFrom(
          chat === undefined ? OWNER : createChatReader(chat),
          what,
        ),
      );
    },
    { running: true },
  ),
  'forget-words': defineChangeOperation(
    'Remove all lines that contain these words',
    { words: z.string().trim().min(2).max(2_000) },
    async ({ memory }: MemoryOperationDeps, { words }, { agent }) =>
      toPlainAnswer(requireForgetting(await memory(agent)).forgetFrom(OWNER, words)),
    { running: true },
  ),
  'forget-person': defineChangeOperation(
    'Remove all memories and messages of a person in every chat',
    { person: z.string().regex(/^[a-z][a-z0-9-]*:\S+$/) },
    async ({ memory }: MemoryOperationDeps, { person }, { agent }) => {
      const own = await memory(agent);
      const { forgetPerson } = requireForgetting(own);
      const guests = [...(await own.chats()).values()].map(createChatReader);
      const whom = { person, isOwner: own.owners.includes(person) };
      return toPlainAnswer(forgetPerson(whom, [OWNER, ...guests]));
    },
    { running: true },
  ),
};

function requireForgetting({ commands }: OperatorMemory) {
  const { forgetFrom, forgetPerson } = commands ?? {};
  if (forgetFrom === undefined || forgetPerson === undefined) return throwMemoryDisabled();
  return { forgetFrom, forgetPerson };
}

function throwMemoryDisabled(): never {
  throw createRefusalError('memory-off', 'Memory is switched off in the settings (agent.memory).');
}

function createChatReader({ conversationId }: MemoryChat): Reader {
  return { kind: 'guest', conversationId };
}

async function listAllMemories(
  workspace: Workspace,
  service: Pick<MemoryService, 'list'>,
  chats: ReadonlyMap<string, MemoryChat>,
): Promise<readonly SavedMemory[]> {
  const own = await service.list(workspace.for(OWNER));
  const lists = [own];
  for (const { conversationId } of chats.values()) {
    lists.push(await service.list(workspace.for({ kind: 'guest', conversationId })));
  }
  return lists.flat();
}

function groupByPerson(
  memories: readonly SavedMemory[],
  chats: ReadonlyMap<string, MemoryChat>,
): readonly PersonMemories[] {
  const people = new Map<string | null, ListedMemory[]>();
  for (const { name: file, entry } of memories.toReversed()) {
    const { id, text, type, scope, date, words, automatic, person } = entry;
    const how = automatic
      ? 'saved automatically'
      : words === 'agent'
        ? 'a note by the agent'
        : null;
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

function createMatcher(words = ''): (memory: SavedMemory) => boolean {
  return ({ entry }) =>
    containsWords(entry.text, words) || containsWords(entry.person ?? '', words);
}

function containsWords(text: string, words: string): boolean {
  return text.toLowerCase().includes(words.trim().toLowerCase());
}

/** Returns one line per item, because `/forget WORDS` removes lines. */
async function listPageItems(workspace: Workspace): Promise<readonly string[]> {
  const file = await workspace.for(OWNER).read('MEMORY.md', WHOLE);
  if (file.kind === 'absent') return [];
  return parseMemoryFile(file.text, 'project').map(({ text }) => text);
}

async function listNotes(workspace: Workspace) {
  const saved: readonly string[] = Object.values(SAVED_FILES);
  const notes = (await workspace.editor.list()).filter(
    ({ name }) => name.startsWith('memory/') && !saved.includes(name),
  );
  return notes.map(({ name: file, tokens }) => ({ file, tokens })).toReversed();
}

/**
 * Formats the reply to `/forget` as plain text. The reply contains ids and file names, never text
 * from people.
 */
async function toPlainAnswer(answer: Promise<string>): Promise<{ readonly text: string }> {
  // Removes markup and keeps literal characters in file names.
  return { text: decodeLiteralText((await answer).replaceAll(/\*\*|`/g, '')) };
}
