import type { InboundMessage, Logger, Reader } from '@parley/contracts';
import type { InboxRow, MemoryIndex, Store } from '@parley/store';
import type { MemoryEntry } from '@parley/workspace';
import { judgeSaving } from '../memory/judge-saving.ts';
import type { MemoryKeeper } from '../memory/memory-keeper.ts';
import { triggerIn } from '../memory/trigger-words.ts';
import { type OpenTurnDeps, turnReader } from '../turn-opening.ts';
import type { Compacting } from './compact.ts';

/** What keeping memories needs. */
export interface KeepMemoriesDeps extends OpenTurnDeps {
  readonly keeper: Pick<MemoryKeeper, 'save'>;
  readonly index: Pick<MemoryIndex, 'list'>;
  readonly store: Pick<Store, 'transcript'>;
  readonly log: Logger;
}

/**
 * Saves what people wrote and should be remembered, before a summary takes the place of their words
 * (G11, G13). The model only points at sentences: each must be in a message of the part that is summed
 * up, written by a person, for this very kind of reader, and is kept as they wrote it. In a group nobody
 * is remembered who has not asked for it.
 */
export function keepMemories(deps: KeepMemoriesDeps): (compacting: Compacting) => Promise<void> {
  return async (compacting) => {
    const [first, last] = [compacting.entries.at(0), compacting.entries.at(-1)];
    if (compacting.quotes.length === 0 || first === undefined || last === undefined) return;
    const rows = await deps.store.transcript.messagesBehind(compacting, first.seq, last.seq);
    const messages = await stillToKeep(deps, rows, compacting.reader);
    const view = deps.workspace.for(compacting.reader);
    let saved = 0;
    for (const quote of compacting.quotes) {
      const entry = entryOf(deps, quote, messages, compacting);
      if (entry === null) continue;
      if ((await deps.keeper.save(view, entry)).kind === 'saved') saved += 1;
    }
    const { conversationId: conversation } = compacting;
    if (saved > 0) deps.log.info({ conversation, saved }, 'remembered before it was summed up');
  };
}

interface Candidate {
  readonly row: InboxRow;
  /** Its letters and digits alone, to find quotations quickly. */
  readonly letters: string;
}

/**
 * Of this kind of reader, without those of which something was remembered already: what was taken out
 * of the files since then must not come back.
 */
async function stillToKeep(
  deps: KeepMemoriesDeps,
  rows: readonly InboxRow[],
  reader: Reader,
): Promise<readonly Candidate[]> {
  const known = new Set(
    (await deps.index.list()).map(({ channel, chatId, messageId }) =>
      JSON.stringify([channel, chatId, messageId]),
    ),
  );
  const isKnown = ({ channel, chat, messageId }: InboundMessage) =>
    known.has(JSON.stringify([channel, chat.id, messageId]));
  return rows
    .filter((row) => readerOfRow(deps, row).kind === reader.kind && !isKnown(row.message))
    .map((row) => ({ row, letters: lettersOf(row.message.text) }));
}

/** For whom a turn of this message alone would have run. */
function readerOfRow(deps: KeepMemoriesDeps, row: InboxRow): Reader {
  const { conversationId } = row;
  const alone = { turnId: '', session: 0, resumed: false, attempts: 0, overheard: [], steps: [] };
  return turnReader({ ...alone, conversationId, messages: [row] }, deps);
}

function entryOf(
  { agent }: KeepMemoriesDeps,
  quote: string,
  candidates: readonly Candidate[],
  { reader, session }: Compacting,
): MemoryEntry | null {
  const letters = lettersOf(quote);
  if (letters === '') return null;
  for (const { row } of candidates.filter((one) => one.letters.includes(letters))) {
    const { message, receivedAt } = row;
    const chatType = message.chat.type;
    const { date } = agent.localTime(receivedAt);
    const place = { reader, chatType, session, date, messages: [message] };
    const wish = { type: 'fact', scope: 'user', quote, automatic: true } as const;
    const judged = judgeSaving(wish, place);
    if (judged.kind === 'refuse') continue;
    // By the whole sentence: the model may have left out what it begins with.
    const trigger = triggerIn(judged.entry.text);
    if (chatType === 'direct') return { ...judged.entry, type: trigger?.type ?? 'fact' };
    if (trigger !== null) return judged.entry;
  }
  return null;
}

function lettersOf(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');
}
