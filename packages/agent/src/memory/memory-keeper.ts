import { type Logger, reasonOf } from '@parley/contracts';
import type { MemoryIndex } from '@parley/store';
import {
  type Memories,
  type MemoryEntry,
  openMemories,
  type Removal,
  SAVED_FILES,
  type SavedMemory,
  type SaveResult,
  type WorkspaceView,
} from '@parley/workspace';
import { judgeSaving, type SavingPlace } from './judge-saving.ts';
import { ownSentences } from './own-sentences.ts';
import { triggerIn } from './trigger-words.ts';

/** Keeps memories: their lines in the files, and the index beside them. */
export interface MemoryKeeper {
  list(view: WorkspaceView): Promise<readonly SavedMemory[]>;
  save(view: WorkspaceView, entry: MemoryEntry): Promise<SaveResult>;
  remove(view: WorkspaceView, ...what: RemoveWhat): Promise<Removal>;
  /**
   * Saves what somebody has asked to be remembered and nobody has saved, in the words of the person and
   * marked as automatic (G13). May be called again for the same turn. Never throws.
   */
  saveAsked(view: WorkspaceView, place: SavingPlace): Promise<number>;
  /** Makes the index what the files say, for this reader; how many there are. */
  rebuild(view: WorkspaceView): Promise<number>;
}

type RemoveWhat = [isMeant: (memory: SavedMemory) => boolean, inNotes: (line: string) => boolean];

export interface MemoryKeeperDeps {
  readonly index: MemoryIndex;
  readonly log: Logger;
}

/** Sentences of one turn that are saved by themselves; more is a text about remembering. */
const MOST_ASKED = 5;

/** Makes one. */
export function createMemoryKeeper({ index, log }: MemoryKeeperDeps): MemoryKeeper {
  const memories: Memories = openMemories();
  const save: MemoryKeeper['save'] = async (view, entry) => {
    const result = await memories.save(view, entry);
    if (result.kind === 'saved') await index.add(indexed(result));
    return result;
  };
  return {
    list: memories.list,
    save,
    async remove(view, isMeant, inNotes) {
      const removal = await memories.remove(view, isMeant, inNotes);
      await index.remove(removal.memories.map(({ name, entry }) => ({ file: name, id: entry.id })));
      return removal;
    },
    async saveAsked(view, place) {
      try {
        const wishes = await askedAndNotSaved(memories, view, place);
        const results = [];
        for (const entry of wishes) results.push(await save(view, entry));
        return results.filter(({ kind }) => kind === 'saved').length;
      } catch (error) {
        log.error(
          { reason: reasonOf(error) },
          'what somebody asked to be remembered was not saved',
        );
        return 0;
      }
    },
    async rebuild(view) {
      const all = await memories.list(view);
      const files = [...Object.values(SAVED_FILES), view.groupMemory];
      await index.rebuild(all.map(indexed), files);
      return all.length;
    },
  };
}

/** A message from which the model has saved something is done with. */
async function askedAndNotSaved(
  memories: Memories,
  view: WorkspaceView,
  place: SavingPlace,
): Promise<readonly MemoryEntry[]> {
  const asked = ownSentences(place.messages).flatMap(({ text, message }) => {
    const trigger = triggerIn(text);
    return trigger === null ? [] : [{ text, message, trigger }];
  });
  if (asked.length === 0) return [];
  const known = await memories.list(view);
  const isSaved = ({ channel, chat, messageId }: (typeof asked)[number]['message']) =>
    known.some(
      ({ entry: { from, automatic } }) =>
        !automatic &&
        from?.message === messageId &&
        from.chat === chat.id &&
        from.channel === channel,
    );
  return asked
    .filter(({ message }) => !isSaved(message))
    .slice(0, MOST_ASKED)
    .flatMap(({ text, message, trigger }) => {
      const type = place.chatType === 'direct' ? trigger.type : 'fact';
      const wish = { type, scope: 'user', quote: text, automatic: true } as const;
      const judged = judgeSaving(wish, { ...place, messages: [message] });
      return judged.kind === 'save' ? [judged.entry] : [];
    });
}

function indexed({ name: file, entry }: SavedMemory) {
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
