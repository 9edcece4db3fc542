import {
  type Call,
  type Caller,
  createRefusalError,
  defineChangeOperation,
  defineReadOperation,
  type LiveBus,
  type WakeServices,
  wakeIfPossible,
} from '@parley/core';
import type { ConversationMarkChange, DeadLetterWake, Store } from '@parley/store';
import { z } from 'zod';

interface InboxOperationDeps extends WakeServices<DeadLetterWake> {
  readonly store: Pick<Store, 'conversationMarks' | 'forgetting'>;
  readonly clock: () => number;
  readonly bus: Pick<LiveBus, 'publish'>;
}

/** The maximum number of read marks that one browser may submit. */
const MAX_BROWSER_MARKS = 500;
/** The maximum length, in characters, of a conversation's name. */
const MAX_TITLE = 80;
const Id = z.string().max(700);
const Ids = z.array(Id).max(MAX_BROWSER_MARKS).default([]);
const Seq = z.coerce.number<number | string>().int().nonnegative();
const Title = z.string().trim().max(MAX_TITLE);

/**
 * Operations on the caller's inbox (U12): names, pins, archive and unread state, which all of the
 * caller's devices share.
 */
export const inboxOperations = {
  rename: defineChangeOperation(
    'Name a conversation in your inbox; an empty name restores its original title',
    { id: Id, title: Title },
    (needs: InboxOperationDeps, { id, title }, { caller }) =>
      markConversation(needs, caller, id, { kind: 'rename', title: title === '' ? null : title }),
  ),
  pin: defineChangeOperation(
    'Pin a conversation to the top of your inbox, or unpin it',
    { id: Id, pinned: z.boolean().default(true) },
    (needs: InboxOperationDeps, { id, pinned }, { caller }) =>
      markConversation(needs, caller, id, { kind: 'pin', to: pinned }),
  ),
  archive: defineChangeOperation(
    'Archive a conversation, or return it to the inbox; a pending approval also returns it',
    { id: Id, archived: z.boolean().default(true) },
    (needs: InboxOperationDeps, { id, archived }, { caller }) =>
      markConversation(needs, caller, id, { kind: 'archive', to: archived }),
  ),
  'mark-read': defineChangeOperation(
    'Mark a conversation as read, up to this message (`newest`) and part (`newestPart`), or entirely',
    { id: Id, message: Seq.optional(), part: Seq.optional() },
    (needs: InboxOperationDeps, { id, message, part = 0 }, { caller }) =>
      markConversation(needs, caller, id, {
        kind: 'read',
        upTo: message === undefined ? null : { message, part },
      }),
  ),
  'mark-unread': defineChangeOperation(
    'Mark the newest message of a conversation as unread',
    { id: Id },
    (needs: InboxOperationDeps, { id }, { caller }) =>
      markConversation(needs, caller, id, { kind: 'unread' }),
  ),
  'begin-inbox': defineChangeOperation(
    'Mark everything as read on the first visit, and import the read marks that the browser has stored',
    {
      pinned: Ids,
      archived: Ids,
      titles: z
        .record(Id, Title.min(1))
        .refine((titles) => Object.keys(titles).length <= MAX_BROWSER_MARKS, {
          error: `At most ${MAX_BROWSER_MARKS} titles are accepted.`,
        })
        .default({}),
      unread: Ids,
    },
    async ({ store, bus }: InboxOperationDeps, marks, { caller }) => {
      await store.conversationMarks.begin(getInboxReader(caller), marks);
      bus.publish({ type: 'inbox-changed' });
      return { ok: true } as const;
    },
  ),
  contents: defineReadOperation(
    'Count what deleting a conversation would remove',
    { id: Id },
    async ({ store }: InboxOperationDeps, { id }) =>
      (await store.forgetting.countForDeletion(id)) ?? throwMissingConversation(),
  ),
  delete: defineChangeOperation(
    'Delete a conversation and everything said in it; a running turn is stopped',
    { id: Id },
    removeConversation,
  ),
};

/** Returns the caller's name in the inbox; whoever has the data folder's token has no name. */
export function getInboxReader({ person = '' }: Caller): string {
  return person;
}

/** The caller's name for records and chats; whoever has the data folder's token has no name. */
export function getCallerName({ person = 'The owner' }: Caller): string {
  return person;
}

async function markConversation(
  { store, bus }: InboxOperationDeps,
  caller: Caller,
  id: string,
  change: ConversationMarkChange,
): Promise<{ readonly ok: true }> {
  if (!(await store.conversationMarks.change(getInboxReader(caller), id, change)))
    throwMissingConversation();
  bus.publish({ type: 'inbox-changed' });
  return { ok: true };
}

async function removeConversation(
  needs: InboxOperationDeps,
  { id }: { readonly id: string },
  { caller }: Call,
): Promise<{ readonly messages: number; readonly cronJobs: number; readonly rows: number }> {
  const { store, bus, log, clock } = needs;
  const by = getCallerName(caller);
  const order = { conversationId: id, by, now: clock() };
  const onStopped = (conversationId: string): void =>
    bus.publish({ type: 'stop-turn', conversationId });
  const deleted =
    (await store.forgetting.deleteConversation({ ...order, onStopped })) ??
    throwMissingConversation();
  log.info({ conversation: id, by, ...deleted }, 'a person deleted a conversation');
  bus.publish({ type: 'inbox-changed' });
  // Messages may have arrived and waited in the meantime.
  await wakeIfPossible(needs, { kind: 'conversation', conversationId: id });
  return deleted;
}

/** Throws ParleyError `no-conversation`. */
export function throwMissingConversation(): never {
  throw createRefusalError(
    'no-conversation',
    'There is no such conversation; it may have been deleted.',
  );
}
