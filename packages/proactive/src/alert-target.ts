import type { InboundMessage, ReplyRoute } from '@parley/core';

/** The chat that receives a run's alerts. The chat is chosen before the model runs (H04). */
export interface AlertChat {
  readonly kind: 'chat';
  readonly conversationId: string;
  readonly route: ReplyRoute;
  /** The latest message from the chat, which identifies the chat and its reader. */
  readonly last: InboundMessage;
  /** Whether the chat is an owner's direct chat. */
  readonly isOwners: boolean;
}

export interface NoAlertChat {
  readonly kind: 'none';
  readonly reason: string;
}

export interface KnownAlertChat {
  readonly conversationId: string;
  readonly kind: 'direct' | 'group';
  /** The person in a direct chat, as `channel:userId`. */
  readonly person?: string;
  /** When an owner last wrote in this chat, in ms; absent if no owner ever did. */
  readonly ownerWroteAt?: number;
}

export interface AlertTargetInput<Chat extends KnownAlertChat = KnownAlertChat> {
  /**
   * The group that the task names, with the chat of that name (null if there is none). Absent if
   * the task does not name a group.
   */
  readonly tell?: { readonly name: string; readonly chat: Chat | null } | undefined;
  /** The setting: an owner as `channel:userId`, or `last`. */
  readonly choice: string;
  readonly owners: readonly string[];
  readonly chats: readonly Chat[];
}

/** Where an alert goes. `note` explains why the target differs from the one in the task. */
type AlertTarget<Chat> =
  | { readonly kind: 'chat'; readonly chat: Chat; readonly note?: string }
  | NoAlertChat;

/**
 * Chooses the chat for an alert before the model runs (H04): the group that the task names, or else
 * an owner's direct chat. If the group's name is unknown, the owner is alerted.
 */
export function chooseAlertTarget<Chat extends KnownAlertChat>({
  tell,
  choice,
  owners,
  chats,
}: AlertTargetInput<Chat>): AlertTarget<Chat> {
  if (tell?.chat?.kind === 'group') return { kind: 'chat', chat: tell.chat };
  // An owner is known to be reachable only in chats in which they have written.
  const [latest] = chats
    .filter(({ kind, person, ownerWroteAt }) => {
      const isOwners = kind === 'direct' && person !== undefined && owners.includes(person);
      return isOwners && ownerWroteAt !== undefined && (choice === 'last' || person === choice);
    })
    .toSorted((a, b) => (b.ownerWroteAt ?? 0) - (a.ownerWroteAt ?? 0));
  if (latest === undefined) return { kind: 'none', reason: describeMissingChat(choice, owners) };
  if (tell === undefined) return { kind: 'chat', chat: latest };
  const note = `no group is called "${tell.name}", so the alert goes to the owner`;
  return { kind: 'chat', chat: latest, note };
}

function describeMissingChat(choice: string, owners: readonly string[]): string {
  if (owners.length === 0) return 'the settings do not name an owner';
  if (choice === 'last') return 'no owner has written in a direct chat yet';
  if (!owners.includes(choice))
    return `heartbeat.notify is ${choice}, which is not one of the owners`;
  return `${choice} has not written in a direct chat yet`;
}
