import type { AdapterValues, Clock, Reader } from '@parley/core';
import type { ForgettingRepository } from '@parley/store';
import type { MemoryEntry, SavedMemory, Workspace, WorkspaceView } from '@parley/workspace';
import { z } from 'zod';
import type { ForgetCasesOrder } from '../evals/case-files.ts';
import { createTextEntry, joinMessageTexts } from '../turn/turn-text.ts';
import {
  describeForgetReport,
  describeTooManyMatches,
  type ForgetReport,
  type ForgottenPeople,
  formatConfirmation,
  renderMemoryList,
} from './memory-replies.ts';
import type { MemoryService } from './memory-service.ts';
import { listMemoriesFor, listWithMessages, type MemoryAsker } from './visible-memories.ts';

export interface MemoryCommandsOptions {
  readonly service: Pick<MemoryService, 'list' | 'remove'>;
  readonly workspace: Pick<Workspace, 'for' | 'folder'>;
  readonly store: { readonly forgetting: ForgettingRepository };
  readonly accountsOf: (person: string) => Promise<readonly string[]>;
  /** Pending confirmations; the second `/forget all` may be received by another process. */
  readonly asked: Pick<AdapterValues, 'get' | 'set'>;
  readonly clock: Clock;
  /** Ends the turn that runs in a lane, in any process. */
  stopTurn(conversationId: string): void;
}

export type MemoryCommands = ReturnType<typeof createMemoryCommands>;

/**
 * A search text that matches more memories than this removes none of them, because it is probably
 * too broad.
 */
const MAX_REMOVED_AT_ONCE = 10;
/** A second `/forget all` within this time confirms the first. */
const CONFIRM_MS = 10 * 60_000;

const Asked = z.object({ messageId: z.string(), at: z.number() });
const ASKED = 'forget-all';

/** Handles `/memory` and `/forget` (G15); the reply is Markdown. */
export function createMemoryCommands(options: MemoryCommandsOptions) {
  return {
    async show(asker: MemoryAsker): Promise<string> {
      const view = options.workspace.for(asker.reader);
      return renderMemoryList(await listMemoriesFor(options, view, asker), asker.isGroup);
    },
    /** Lists the memories that the asker may remove, with the messages they were saved from. */
    saved: (asker: MemoryAsker) => listWithMessages(options, asker),
    async forget(asker: MemoryAsker, argument: string): Promise<string> {
      const words = argument.trim();
      if (words === '') {
        return 'Tell me what to forget: `/forget WORDS`, `/forget ID` with an id from `/memory`, or `/forget all`.';
      }
      const view = options.workspace.for(asker.reader);
      const mine = await listMemoriesFor(options, view, asker);
      const isOwner = asker.reader.kind === 'owner';
      if (/^(?:all|alles|全部)$/i.test(words)) {
        if (!(await isConfirmed(options, asker)))
          return formatConfirmation(mine.length, asker.isGroup);
        const persons = await listAccounts(options, asker.person);
        const whom = { persons, ownersToo: isOwner, whose: 'yours' } as const;
        return describeForgetReport(
          await removeAllOfPerson(options, view, asker, mine, whom),
          isOwner,
        );
      }
      const chosen = mine.filter(({ entry }) => matchesMemory(words, entry));
      if (chosen.length > MAX_REMOVED_AT_ONCE) return describeTooManyMatches(chosen);
      return describeForgetReport(
        await removeMemories(options, view, asker, chosen, words),
        isOwner,
      );
    },
    /**
     * `/forget` from outside a chat: removes a memory visible to the reader, or `words` from all
     * notes of the owner.
     */
    async forgetFrom(reader: Reader, what: (Pick<SavedMemory, 'name'> & { id: string }) | string) {
      const view = options.workspace.for(reader);
      const isMeant = ({ name, entry }: SavedMemory) =>
        typeof what === 'string'
          ? matchesMemory(what, entry)
          : name === what.name && entry.id === what.id;
      const chosen = (await options.service.list(view)).filter(isMeant);
      const words = typeof what === 'string' ? what : null;
      if (chosen.length > MAX_REMOVED_AT_ONCE) return describeTooManyMatches(chosen);
      return describeForgetReport(
        await removeMemories(options, view, { reader }, chosen, words),
        true,
      );
    },
    /**
     * `/forget all` for another person, from outside a chat. Memories visible to `readers` are
     * removed; the first reader is an owner.
     */
    forgetPerson: (
      whom: { readonly person: string; readonly isOwner: boolean },
      readers: readonly [Reader, ...Reader[]],
    ): Promise<string> => forgetPerson(options, whom, readers),
  };
}

async function forgetPerson(
  options: MemoryCommandsOptions,
  { person, isOwner }: { readonly person: string; readonly isOwner: boolean },
  readers: readonly [Reader, ...Reader[]],
): Promise<string> {
  const persons = await listAccounts(options, person);
  const theirs = async (view: WorkspaceView) =>
    (await options.service.list(view)).filter(({ entry }) => persons.includes(entry.person ?? ''));
  const [owner, ...guests] = readers;
  const view = options.workspace.for(owner);
  const asker = { reader: owner, isGroup: false };
  const whom = { persons, ownersToo: isOwner, whose: 'theirs' } as const;
  const proof = await removeAllOfPerson(options, view, asker, await theirs(view), whom);
  const memories = [...proof.removal.memories];
  const failed = [...proof.removal.failed];
  for (const reader of guests) {
    const chat = options.workspace.for(reader);
    const { removal } = await removeMemories(options, chat, { reader }, await theirs(chat), null);
    memories.push(...removal.memories);
    failed.push(...removal.failed);
  }
  return describeForgetReport({ ...proof, removal: { ...proof.removal, memories, failed } }, true);
}

/** The ids of all accounts of a person. */
async function listAccounts(
  { accountsOf }: MemoryCommandsOptions,
  person: string,
): Promise<readonly string[]> {
  return [...new Set([person, ...(await accountsOf(person))])];
}

/**
 * Whether this is the second `/forget all` within the time limit. A redelivered message does not
 * confirm itself.
 */
async function isConfirmed(
  { asked, clock }: MemoryCommandsOptions,
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

async function removeMemories(
  options: MemoryCommandsOptions,
  view: WorkspaceView,
  { reader }: Pick<MemoryAsker, 'reader'>,
  chosen: readonly SavedMemory[],
  words: string | null,
): Promise<ForgetReport> {
  const isOwner = reader.kind === 'owner';
  const isChosen = ({ name, entry }: SavedMemory) =>
    chosen.some((one) => one.name === name && one.entry.id === entry.id);
  // Only an owner may remove arbitrary text, because the text may belong to other people.
  const isPhrase = words !== null && isOwner && chosen.every(({ entry }) => entry.id !== words);
  const texts = [...chosen.map(({ entry }) => entry.text), ...(isPhrase ? [words] : [])];
  const inNotes = (line: string) => isOwner && texts.some((text) => containsPhrase(line, text));
  const removal = await options.service.remove(view, isChosen, inNotes);
  const origins = removal.memories.flatMap(({ entry }) => entry.from?.conversation ?? []);
  const forgetting = {
    conversations: isOwner ? [reader.conversationId, ...origins] : [reader.conversationId],
    ownersToo: isOwner,
    phrases: texts,
  };
  const forgotten = texts.length === 0 ? null : await options.store.forgetting.forget(forgetting);
  const only = isOwner ? null : reader.conversationId;
  const cases = await removeCases(options, { phrases: texts, persons: [], only });
  const left = isOwner ? await findRemainingTexts(view, texts) : [];
  return { removal, forgotten, cases, left };
}

/**
 * Removes all messages of the person (in a group, those sent there; otherwise in all chats), then
 * the memories.
 */
async function removeAllOfPerson(
  options: MemoryCommandsOptions,
  view: WorkspaceView,
  asker: Pick<MemoryAsker, 'reader' | 'isGroup'>,
  mine: readonly SavedMemory[],
  { persons, ownersToo, whose }: ForgottenPeople,
): Promise<ForgetReport> {
  const { forgetting } = options.store;
  const { reader, isGroup } = asker;
  // Turns are stopped first, because a running turn could save removed text again.
  const forgotten = await forgetting.forgetPerson({
    persons,
    ownersToo,
    only: isGroup ? reader.conversationId : null,
    now: options.clock(),
    onStopped: options.stopTurn,
    retell: (messages) =>
      createTextEntry(
        'user',
        joinMessageTexts(messages, () => []),
      ).content,
  });
  const proof = await removeMemories(options, view, asker, mine, null);
  const only = isGroup ? reader.conversationId : null;
  const theirs = await removeCases(options, { phrases: [], persons, only });
  const cases = [...new Set([...proof.cases, ...theirs])];
  const { samples } = forgotten;
  const search = await forgetting.searchFiles(samples);
  const left =
    reader.kind === 'owner' ? [...proof.left, ...(await findRemainingTexts(view, samples))] : [];
  return { ...proof, cases, left: [...new Set(left)], said: { ...forgotten, search, whose } };
}

/** Most chats never forget, so the code of evaluations is loaded only here. */
async function removeCases(
  { workspace }: MemoryCommandsOptions,
  order: ForgetCasesOrder,
): Promise<readonly string[]> {
  const { forgetCases } = await import('../evals/case-files.ts');
  return forgetCases(workspace.folder, order);
}

async function findRemainingTexts(
  view: WorkspaceView,
  texts: readonly string[],
): Promise<readonly string[]> {
  const names = (await view.list()).map(({ name }) => name);
  const left: string[] = [];
  for (const name of names) {
    const file = await view.read(name, Number.MAX_SAFE_INTEGER);
    if (file.kind === 'absent') continue;
    const lines = file.text.split('\n');
    if (lines.some((line) => texts.some((text) => containsPhrase(line, text)))) left.push(name);
  }
  return left;
}

/** Whether `/forget WORDS` matches this memory, by its id or its text. */
function matchesMemory(words: string, { id, text }: MemoryEntry): boolean {
  return words.toLowerCase() === id || containsPhrase(text, words);
}

/**
 * The comparison ignores case and spaces. In scripts with spaces only whole words match: `art` does
 * not match `party`.
 */
function containsPhrase(text: string, wanted: string): boolean {
  const within = normalizeMemoryText(text);
  const what = normalizeMemoryText(wanted);
  if (what === '') return false;
  for (let at = within.indexOf(what); at !== -1; at = within.indexOf(what, at + 1)) {
    const isCut =
      (isLetterCharacter(within[at - 1]) && isLetterCharacter(what[0])) ||
      (isLetterCharacter(what.at(-1)) && isLetterCharacter(within[at + what.length]));
    if (!isCut) return true;
  }
  return false;
}

function isLetterCharacter(character = ''): boolean {
  if (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(character)) return false;
  return /[\p{L}\p{N}]/u.test(character);
}

function normalizeMemoryText(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();
}
