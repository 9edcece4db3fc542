import type { AdapterValues, Clock, Reader } from '@parley/contracts';
import type { ForgettingRepository, Forgotten, PersonForgotten, RawSearch } from '@parley/store';
import type { Removal, SavedMemory, Workspace, WorkspaceView } from '@parley/workspace';
import { z } from 'zod';
import { spoken, textOf } from '../history.ts';
import { forgetText, memoryText } from './desk-words.ts';
import type { MemoryKeeper } from './memory-keeper.ts';
import { meansLine, meansMemory } from './what-to-forget.ts';

/** Who uses `/memory` or `/forget`, and where. */
export interface MemoryAsker {
  /** Parley's id (`telegram:42`). */
  readonly person: string;
  readonly reader: Reader;
  readonly isGroup: boolean;
  readonly messageId: string;
}

/** Answers `/memory` and `/forget` (G15), in Markdown. */
export interface MemoryDesk {
  show(asker: MemoryAsker): Promise<string>;
  forget(asker: MemoryAsker, argument: string): Promise<string>;
}

export interface MemoryDeskDeps {
  readonly keeper: Pick<MemoryKeeper, 'list' | 'remove'>;
  readonly workspace: Pick<Workspace, 'for'>;
  readonly store: { readonly forgetting: ForgettingRepository };
  readonly accountsOf: (person: string) => Promise<readonly string[]>;
  /** Who was asked for a yes; the second `/forget all` may reach another process. */
  readonly asked: Pick<AdapterValues, 'get' | 'set'>;
  readonly clock: Clock;
  /** Ends the turn that runs on a lane, in whatever process. */
  stopTurn(conversationId: string): void;
}

/** What was removed from where, as proof. */
export interface ForgetProof {
  readonly removal: Removal;
  readonly forgotten: Forgotten | null;
  /** Files that still hold the words and are not the desk's to change. */
  readonly left: readonly string[];
  /** Of `/forget all`: what they had said, and whether the files still hold any of it. */
  readonly said?: PersonForgotten & { readonly search: RawSearch | null };
}

/** What stands in the place of words that were forgotten. */
const MARK = '[forgotten]';
/** Most memories that words alone may remove; more is probably not what was meant. */
const MOST_AT_ONCE = 10;
/** A second `/forget all` within this time is a yes. */
const CONFIRM_MS = 10 * 60_000;

const Asked = z.object({ messageId: z.string(), at: z.number() });
const ASKED = 'forget-all';

/** Makes the desk of an installation. */
export function memoryDesk(deps: MemoryDeskDeps): MemoryDesk {
  return {
    async show(asker) {
      const view = deps.workspace.for(asker.reader);
      return memoryText(await known(deps, view, asker), asker);
    },
    async forget(asker, argument) {
      const view = deps.workspace.for(asker.reader);
      const mine = await known(deps, view, asker);
      const words = argument.trim();
      if (words === '') return forgetText({ kind: 'usage' });
      const isAll = /^(?:all|alles|全部)$/i.test(words);
      const isOwner = asker.reader.kind === 'owner';
      if (isAll) {
        const { isGroup } = asker;
        if (!(await isConfirmed(deps, asker))) {
          return forgetText({ kind: 'confirm', count: mine.length, isGroup });
        }
        const proof = await removeAll(deps, view, asker, mine);
        return forgetText({ kind: 'done', proof, isOwner });
      }
      const chosen = mine.filter(({ entry }) => meansMemory(words, entry));
      if (chosen.length > MOST_AT_ONCE) return forgetText({ kind: 'too-many', chosen });
      const proof = await remove(deps, view, asker, chosen, words);
      return forgetText({ kind: 'done', proof, isOwner });
    },
  };
}

/** Told twice, the same message is no second one. */
async function isConfirmed(
  { asked, clock }: MemoryDeskDeps,
  { messageId, person, reader }: MemoryAsker,
): Promise<boolean> {
  const id = JSON.stringify([reader.conversationId, person]);
  const now = clock();
  const found = (await asked.get(ASKED, [id])).get(id);
  const before = found === undefined ? null : Asked.parse(JSON.parse(found));
  const isYes = before !== null && before.messageId !== messageId && now - before.at <= CONFIRM_MS;
  await asked.set([
    { kind: ASKED, id, value: isYes ? null : JSON.stringify({ messageId, at: now }) },
  ]);
  return isYes;
}

/** What is known about the person: an owner in their direct chat sees all, anybody else what is theirs. */
async function known(
  deps: MemoryDeskDeps,
  view: WorkspaceView,
  { person, reader, isGroup }: MemoryAsker,
): Promise<readonly SavedMemory[]> {
  const all = await deps.keeper.list(view);
  if (reader.kind === 'owner') return all;
  const accounts = await deps.accountsOf(person);
  return all.filter(({ entry }) =>
    entry.person === null ? !isGroup : accounts.includes(entry.person),
  );
}

async function remove(
  deps: MemoryDeskDeps,
  view: WorkspaceView,
  { reader }: MemoryAsker,
  chosen: readonly SavedMemory[],
  words: string | null,
): Promise<ForgetProof> {
  const isOwner = reader.kind === 'owner';
  const isChosen = ({ name, entry }: SavedMemory) =>
    chosen.some((one) => one.name === name && one.entry.id === entry.id);
  // Words of others stay: only an owner may take any words out of what was said.
  const isPhrase = words !== null && isOwner && chosen.every(({ entry }) => entry.id !== words);
  const texts = [...chosen.map(({ entry }) => entry.text), ...(isPhrase ? [words] : [])];
  const inNotes = (line: string) => isOwner && texts.some((text) => meansLine(text, line));
  const removal = await deps.keeper.remove(view, isChosen, inNotes);
  const origins = removal.memories.flatMap(({ entry }) => entry.from?.conversation ?? []);
  const forgetting = {
    conversations: isOwner ? [reader.conversationId, ...origins] : [reader.conversationId],
    ownersToo: isOwner,
    words: texts,
    mark: MARK,
  };
  const forgotten = texts.length === 0 ? null : await deps.store.forgetting.forget(forgetting);
  return { removal, forgotten, left: isOwner ? await stillIn(view, texts) : [] };
}

/** The memories, then all they have said: in a group what they said there, else wherever they wrote. */
async function removeAll(
  deps: MemoryDeskDeps,
  view: WorkspaceView,
  asker: MemoryAsker,
  mine: readonly SavedMemory[],
): Promise<ForgetProof> {
  const { forgetting } = deps.store;
  const { person, reader, isGroup } = asker;
  const ownersToo = reader.kind === 'owner';
  const persons = [...new Set([person, ...(await deps.accountsOf(person))])];
  // First: what runs could save once more what was removed.
  const forgotten = await forgetting.forgetPerson({
    persons,
    ownersToo,
    only: isGroup ? reader.conversationId : null,
    mark: MARK,
    now: deps.clock(),
    onStopped: deps.stopTurn,
    retell: (messages) =>
      spoken(
        'user',
        textOf(messages, () => []),
      ).content,
  });
  const proof = await remove(deps, view, asker, mine, null);
  const { samples } = forgotten;
  const search = await forgetting.searchFiles(samples);
  const left = ownersToo ? [...proof.left, ...(await stillIn(view, samples))] : [];
  return { ...proof, left: [...new Set(left)], said: { ...forgotten, search } };
}

async function stillIn(view: WorkspaceView, texts: readonly string[]): Promise<readonly string[]> {
  const names = (await view.list()).map(({ name }) => name);
  const left: string[] = [];
  for (const name of names) {
    const file = await view.read(name, Number.MAX_SAFE_INTEGER);
    if (file.kind === 'absent') continue;
    const lines = file.text.split('\n');
    if (lines.some((line) => texts.some((text) => meansLine(text, line)))) left.push(name);
  }
  return left;
}
