import { type InboundMessage, type Logger, type Reader, reasonOf } from '@parley/core';
import type { InboxRow, MemoryIndex, Store } from '@parley/store';
import {
  type MemoryEntry,
  MemoryFiles,
  type MemoryRemoval,
  SAVED_FILES,
  type SavedMemory,
  type SaveResult,
  type WorkspaceView,
} from '@parley/workspace';
import type { EntriesToCompact } from '../context/compactor.ts';
import { type AgentContext, CHAT, decideReader } from '../turn/turn.ts';
import { decideSave, findSaveRequests, findTrigger, type SaveContext } from './memory-triggers.ts';

/**
 * The maximum number of sentences saved automatically from one turn; a message with more is
 * probably a text about remembering.
 */
const MAX_SAVED_SENTENCES = 5;

interface MemoryOptions {
  readonly index: MemoryIndex;
  readonly log: Logger;
}

/** Saves and removes memories: lines in files, plus a database index of them. */
export class MemoryService extends MemoryFiles {
  readonly #index: MemoryIndex;
  readonly #log: Logger;

  constructor({ index, log }: MemoryOptions) {
    super();
    this.#index = index;
    this.#log = log;
  }

  override async save(view: WorkspaceView, entry: MemoryEntry): Promise<SaveResult> {
    const result = await super.save(view, entry);
    if (result.kind === 'saved') await this.#index.add(toIndexedMemory(result));
    return result;
  }

  override async remove(...of: Parameters<MemoryFiles['remove']>): Promise<MemoryRemoval> {
    const removal = await super.remove(...of);
    const gone = removal.memories.map(({ name, entry }) => ({ file: name, id: entry.id }));
    await this.#index.remove(gone);
    return removal;
  }

  /**
   * Saves, verbatim and marked as automatic, the requests to remember that the model did not save
   * (G13). Can be repeated for the same turn, and never throws.
   */
  async saveAsked(view: WorkspaceView, place: SaveContext): Promise<number> {
    try {
      let saved = 0;
      for (const entry of await this.#askedAndNotSaved(view, place))
        if ((await this.save(view, entry)).kind === 'saved') saved += 1;
      return saved;
    } catch (error) {
      const reason = reasonOf(error);
      this.#log.error({ reason }, 'what a sender asked to be remembered was not saved');
      return 0;
    }
  }

  /** Skips messages from which the model has already saved something. */
  async #askedAndNotSaved(
    view: WorkspaceView,
    place: SaveContext,
  ): Promise<readonly MemoryEntry[]> {
    const asked = findSaveRequests(place.messages);
    if (asked.length === 0) return [];
    const known = (await this.list(view)).filter(({ entry }) => !entry.automatic);
    const isSaved = ({ channel, chat, messageId }: InboundMessage) =>
      known.some(
        ({ entry: { from } }) =>
          from?.message === messageId && from.chat === chat.id && from.channel === channel,
      );
    return asked
      .filter(({ message }) => !isSaved(message))
      .slice(0, MAX_SAVED_SENTENCES)
      .flatMap(({ text, message, trigger }) => {
        const type = place.chatType === 'direct' ? trigger.type : 'fact';
        const request = { type, scope: 'user', quote: text, automatic: true } as const;
        const judged = decideSave(request, { ...place, messages: [message] });
        return judged.kind === 'save' ? [judged.entry] : [];
      });
  }

  /** Rebuilds the index from the files that this reader can see. */
  async rebuild(view: WorkspaceView): Promise<number> {
    const all = await this.list(view);
    const files = [...Object.values(SAVED_FILES), view.groupMemory];
    await this.#index.rebuild(all.map(toIndexedMemory), files);
    return all.length;
  }
}

function toIndexedMemory({ name: file, entry }: SavedMemory) {
  const { id, type, scope, person, words, date, from } = entry;
  return {
    file,
    id,
    type,
    scope,
    person,
    words,
    savedOn: date,
    channel: from?.channel ?? null,
    chatId: from?.chat ?? null,
    messageId: from?.message ?? null,
  };
}

interface KeepMemoriesOptions extends AgentContext {
  readonly service: Pick<MemoryService, 'save'>;
  readonly index: Pick<MemoryIndex, 'list'>;
  readonly store: Pick<Store, 'transcript'>;
  readonly log: Logger;
}

/**
 * Saves people's sentences before a summary replaces their messages (G11, G13). The model only
 * points at sentences: each must occur in a summarized message from a person, for the same kind of
 * reader, and is saved verbatim. In a group, only what people asked to be remembered is saved.
 */
export function createMemoryKeeper(
  deps: KeepMemoriesOptions,
): (compacting: EntriesToCompact) => Promise<void> {
  return async (compacting) => {
    const [first, last] = [compacting.entries.at(0), compacting.entries.at(-1)];
    if (compacting.quotes.length === 0 || first === undefined || last === undefined) return;
    const rows = await deps.store.transcript.messagesBehind(compacting, first.seq, last.seq);
    const messages = await listCandidates(deps, rows, compacting.reader);
    const view = deps.workspace.for(compacting.reader);
    let saved = 0;
    for (const quote of compacting.quotes) {
      const entry = findQuotedEntry(deps, quote, messages, compacting);
      if (entry === null) continue;
      if ((await deps.service.save(view, entry)).kind === 'saved') saved += 1;
    }
    const { conversationId: conversation } = compacting;
    if (saved > 0) deps.log.info({ conversation, saved }, 'saved memories before a summary');
  };
}

/**
 * Returns the messages for this kind of reader from which no memory has been saved yet, because a
 * line that was removed from the files must not return. `letters` speeds up the search for
 * quotations.
 */
async function listCandidates(
  deps: KeepMemoriesOptions,
  rows: readonly InboxRow[],
  reader: Reader,
) {
  const keyOf = (...origin: readonly (string | null)[]) => JSON.stringify(origin);
  const known = new Set(
    (await deps.index.list()).map((one) => keyOf(one.channel, one.chatId, one.messageId)),
  );
  return rows
    .filter((row) => {
      const { channel, chat, messageId } = row.message;
      const isKnown = known.has(keyOf(channel, chat.id, messageId));
      const alone = { messages: [row], conversationId: row.conversationId };
      return !isKnown && decideReader(CHAT, alone, deps.owners).kind === reader.kind;
    })
    .map((row) => ({ ...row, letters: removeNonAlphanumerics(row.message.text) }));
}

function findQuotedEntry(
  { agent }: KeepMemoriesOptions,
  quote: string,
  candidates: Awaited<ReturnType<typeof listCandidates>>,
  { reader, session }: EntriesToCompact,
): MemoryEntry | null {
  const quoted = removeNonAlphanumerics(quote);
  if (quoted === '') return null;
  for (const { message, receivedAt, letters } of candidates) {
    if (!letters.includes(quoted)) continue;
    const chatType = message.chat.type;
    const { date } = agent.localTime(receivedAt);
    const place = { reader, chatType, session, date, messages: [message] };
    const request = { type: 'fact', scope: 'user', quote, automatic: true } as const;
    const judged = decideSave(request, place);
    if (judged.kind === 'refuse') continue;
    // Checks the whole sentence, because the model may have omitted its first words.
    const trigger = findTrigger(judged.entry.text);
    if (chatType === 'direct') return { ...judged.entry, type: trigger?.type ?? 'fact' };
    if (trigger !== null) return judged.entry;
  }
  return null;
}

function removeNonAlphanumerics(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');
}
