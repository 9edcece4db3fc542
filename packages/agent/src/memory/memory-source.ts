import type { PromptPart, Reader } from '@parley/contracts';
import type { ContextSource, PromptFeatures } from '@parley/prompt';
import type { MemoryIndex } from '@parley/store';
import {
  cutText,
  isOver,
  type MemoryHit,
  type MemorySearch,
  profileOf,
  type SavedMemory,
} from '@parley/workspace';
import type { MemoryKeeper } from './memory-keeper.ts';

/** What the source looks into. */
export interface MemorySourceDeps {
  readonly keeper: Pick<MemoryKeeper, 'list'>;
  readonly search: MemorySearch;
  readonly index: Pick<MemoryIndex, 'used' | 'uses'>;
  /** The accounts of a person, their own among them (F13). */
  readonly accountsOf: (person: string) => Promise<readonly string[]>;
}

/** Most memories of a prompt, and most notes of `knowledge/`. */
const MOST_MEMORIES = 5;
const MOST_KNOWLEDGE = 3;
/** Longest text of each, in characters. */
const MEMORY_LENGTH = 300;
const KNOWLEDGE_LENGTH = 800;
/** So much of the messages is looked for, in characters. */
const QUESTION = 1_000;

/** What is known of the person and of what they ask, as far as this reader may see it (G14, W02). */
export function memorySource(deps: MemorySourceDeps): ContextSource {
  return {
    id: 'memory',
    reads: ['MEMORY.md', 'memory/', 'knowledge/', 'groups/'],
    async gather({ view, reader, messages, facts, conversationId, session, fix }) {
      const at = { conversation: conversationId, session };
      const question = messages
        .map(({ text }) => text)
        .join('\n')
        .slice(0, QUESTION);
      const [saved, hits] = await Promise.all([
        deps.keeper.list(view),
        deps.search.find(view, question, { ...at, most: 12 }),
      ]);
      const clear = hits.filter(({ isClear }) => isClear);
      const memories = clear.filter(({ kind }) => kind !== 'knowledge').slice(0, MOST_MEMORIES);
      const knowledge = clear.filter(({ kind }) => kind === 'knowledge').slice(0, MOST_KNOWLEDGE);
      const ids = memories.flatMap(({ entry }) => entry?.id ?? []);
      // A turn that only might be uses nothing.
      if (ids.length > 0 && fix !== undefined) await deps.index.used(ids);
      const current = saved.filter(({ entry }) => !isOver(entry, at));
      return {
        ...(memories.length > 0 && { memories: memories.map(shownMemory) }),
        ...(knowledge.length > 0 && { knowledge: knowledge.map(shownKnowledge) }),
        ...(current.length > 0 && (await profiles(deps, current, facts.user.id, reader))),
      };
    },
  };
}

async function profiles(
  { accountsOf, index }: MemorySourceDeps,
  saved: readonly SavedMemory[],
  person: string,
  reader: Reader,
): Promise<Pick<PromptFeatures, 'userProfile' | 'projectProfile'>> {
  const [accounts, uses] = await Promise.all([accountsOf(person), index.uses()]);
  return profilesOf(saved, accounts, reader, uses);
}

/** The person's own, and what is about the project; in a group that of the speaker alone. */
function profilesOf(
  saved: readonly SavedMemory[],
  accounts: readonly string[],
  reader: Reader,
  uses: ReadonlyMap<string, number>,
): Pick<PromptFeatures, 'userProfile' | 'projectProfile'> {
  const isTheirs = ({ entry: { person } }: SavedMemory) =>
    person === null ? reader.kind === 'owner' : accounts.includes(person);
  const entries = (isMeant: (memory: SavedMemory) => boolean) =>
    saved.filter(isMeant).map(({ entry }) => entry);
  const user = profileOf(
    entries((memory) => memory.entry.scope === 'user' && isTheirs(memory)),
    uses,
  );
  const project = profileOf(
    entries(({ entry }) => entry.scope === 'project'),
    uses,
  );
  const audience: PromptPart['audience'] =
    reader.kind === 'owner'
      ? { kind: 'owner' }
      : { kind: 'conversation', conversationId: reader.conversationId };
  const part = (text: string): PromptPart => ({ text, source: 'saved memories', audience });
  return {
    ...(user !== null && { userProfile: part(user) }),
    ...(project !== null && { projectProfile: part(project) }),
  };
}

function shownMemory(hit: MemoryHit): PromptPart {
  const { source, audience } = hit;
  return { source, audience, text: memoryWords(hit, MEMORY_LENGTH) };
}

function shownKnowledge({ text, heading, source, audience }: MemoryHit): PromptPart {
  const shown = cutText(text, KNOWLEDGE_LENGTH, source).text;
  return { source, audience, text: heading === '' ? shown : `${heading}\n${shown}` };
}

/** A memory with where it comes from, in at most `length` characters of its own. */
export function memoryWords({ text, heading, source, entry }: MemoryHit, length: number): string {
  const shown = cutText(text, length, source).text;
  if (entry === undefined)
    return heading === '' ? `${shown} (${source})` : `${heading}: ${shown} (${source})`;
  const { type, person, date, words } = entry;
  const who =
    words === 'own' ? `${person} wrote` : words === 'agent' ? 'my own note' : 'noted by hand';
  return `${shown} (${[type, who, date].filter((fact) => fact !== null).join(', ')})`;
}
