import type { WebEvent, WebFile, WebHistory, WebHistoryEntry } from '@parley/channels/web';
import type { Button, ToolCallOfTurn } from '@parley/core';

/** The delivery state of the person's own message. */
export type DeliveryState =
  /** `late` if the gateway could not be reached; sending is retried until the gateway answers. */
  | {
      readonly kind: 'sending';
      readonly late: boolean;
      /** The share of the message's files that has been sent, from 0 to 1; absent without files. */
      readonly sent?: number;
    }
  /** `outcome` is how the message's turn ended; null while the turn is pending. */
  | {
      readonly kind: 'sent';
      readonly outcome: string | null;
      /**
       * The message was meant to replace the last message, but that message was no longer the last
       * one.
       */
      readonly isNew?: true;
    }
  /** The gateway will never accept this message, so it is not sent again. */
  | { readonly kind: 'refused'; readonly reason: string };

export interface PersonMessageEntry {
  readonly kind: 'mine';
  readonly id: string;
  readonly text: string;
  readonly files: readonly WebFile[];
  readonly at: number;
  readonly delivery: DeliveryState;
  /** Whether a rewind has removed the message from what the agent sees. */
  readonly isRewound?: boolean;
}

/**
 * An answer. For replies to commands and notices, which were not written by a model, `turnId` is
 * null.
 */
export interface AnswerEntry {
  readonly kind: 'answer';
  readonly id: string;
  readonly turnId: string | null;
  readonly html: string;
  /** A file that was sent above the text. */
  readonly file?: WebFile;
  readonly buttons: readonly Button[];
  readonly at: number;
  /**
   * The id of the entry above the answer, so that messages sent during the answer stay below it.
   * Without this id, the time of the answer decides its position.
   */
  readonly place?: string;
  readonly isRewound?: boolean;
}

export type ConversationEntry = PersonMessageEntry | AnswerEntry;

/** An answer that is still being written; `ended` until its final text arrives. */
export interface LiveAnswer {
  readonly turnId: string;
  readonly html: string;
  readonly ended: boolean;
  /** The id of the last entry above the answer; null until one is known. */
  readonly place: string | null;
}

/** The state of the connection to the gateway, as shown to the person. */
export type LinkState = 'connecting' | 'online' | 'reconnecting' | 'signed-out';

/** Everything the chat view shows. */
export interface Conversation {
  readonly entries: readonly ConversationEntry[];
  readonly live: LiveAnswer | null;
  /** Tool calls in their order, by turn. */
  readonly calls: ReadonlyMap<string, readonly ToolCallOfTurn[]>;
  readonly typing: boolean;
  readonly link: LinkState;
  /**
   * False until the history has been loaded, because an empty chat looks different from an unknown
   * one.
   */
  readonly loaded: boolean;
  readonly commands: WebHistory['commands'];
  readonly limits: WebHistory['limits'];
}

export type ConversationChange =
  | { readonly type: 'event'; readonly event: WebEvent }
  | { readonly type: 'history'; readonly history: WebHistory }
  | {
      readonly type: 'composed';
      readonly id: string;
      readonly text: string;
      readonly files?: readonly WebFile[] | undefined;
      readonly at: number;
    }
  /** The page shows a different chat. */
  | { readonly type: 'opened' }
  | {
      readonly type: 'delivery';
      readonly id: string;
      readonly delivery: DeliveryState;
      readonly at?: number;
    }
  | { readonly type: 'dismissed'; readonly id: string }
  | { readonly type: 'link'; readonly link: LinkState }
  | { readonly type: 'typing-faded' };

/** The initial state, in which nothing about the conversation is known yet. */
export const UNKNOWN: Conversation = {
  entries: [],
  live: null,
  calls: new Map(),
  typing: false,
  link: 'connecting',
  loaded: false,
  commands: [],
  limits: undefined,
};

/** Returns the conversation after a change. Applying an event twice has no further effect. */
export function applyChange(now: Conversation, change: ConversationChange): Conversation {
  switch (change.type) {
    case 'event':
      return applyEvent(now, change.event);
    case 'history':
      return applyHistory(now, change.history);
    case 'composed': {
      const { id, text, files = [], at } = change;
      const delivery = { kind: 'sending', late: false } as const;
      return addEntries(now, [{ kind: 'mine', id, text, files, at, delivery }]);
    }
    case 'opened':
      return { ...UNKNOWN, link: now.link, commands: now.commands, limits: now.limits };
    case 'delivery':
      return applyDelivery(now, change);
    case 'dismissed':
      return removeEntries(now, [change.id]);
    case 'link':
      return change.link === 'online'
        ? { ...now, link: 'online' }
        : endLiveAnswer(now, change.link);
    case 'typing-faded':
      return { ...now, typing: false };
  }
}

/**
 * An answer that was being written when the connection broke either continues with the next event
 * or has ended. A signed-out browser keeps its unsent messages and drops everything received from
 * the gateway.
 */
function endLiveAnswer(now: Conversation, link: LinkState): Conversation {
  if (link === 'signed-out') return { ...UNKNOWN, link, entries: now.entries.filter(isUnsent) };
  return { ...now, link, typing: false, live: now.live && { ...now.live, ended: true } };
}

/** Whether `/stop` would end an answer in progress. */
export function isAnswering({ live, typing, link }: Conversation): boolean {
  return link === 'online' && (typing || (live !== null && !live.ended));
}

/** Unknown events from a newer gateway are ignored. */
function applyEvent(now: Conversation, event: WebEvent): Conversation {
  switch (event.type) {
    case 'inbound':
    case 'part':
      return addEntries(now, toEntries(event));
    case 'replaced':
      return removeEntries(now, [event.id]);
    case 'typing':
      return { ...now, typing: true };
    case 'tool':
      return applyCall(now, event);
    case 'stream': {
      const { turnId, text } = event;
      if (hasAnswer(now.entries, turnId)) return now;
      return { ...now, live: { ...getLiveAnswer(now, turnId), html: text, ended: false } };
    }
    case 'stream-end': {
      const live = now.live?.turnId === event.turnId ? { ...now.live, ended: true } : now.live;
      return { ...now, live, typing: false };
    }
    default:
      return now;
  }
}

/** The live state of a running turn, placed below the entries that preceded it. */
function getLiveAnswer({ live, entries }: Conversation, turnId: string): LiveAnswer {
  if (live?.turnId === turnId) return live;
  const place = entries.findLast((entry) => !isUnsent(entry))?.id ?? null;
  return { turnId, html: '', ended: false, place };
}

/** Replaces the earlier state of the tool call. */
function applyCall(now: Conversation, call: ToolCallOfTurn): Conversation {
  const { turnId } = call;
  const calls = mergeCalls(now.calls, [call]);
  if (hasAnswer(now.entries, turnId)) return { ...now, calls };
  return { ...now, calls, live: { ...getLiveAnswer(now, turnId), ended: false } };
}

function mergeCalls(
  known: Conversation['calls'],
  added: readonly ToolCallOfTurn[],
): Conversation['calls'] {
  const calls = new Map(known);
  for (const call of added) {
    const before = calls.get(call.turnId) ?? [];
    const at = before.findIndex(({ callId }) => callId === call.callId);
    calls.set(call.turnId, at === -1 ? [...before, call] : before.with(at, call));
  }
  return calls;
}

/**
 * The stored history is authoritative: a stream that ended without a stored message part was
 * stopped and is removed.
 */
function applyHistory(now: Conversation, history: WebHistory): Conversation {
  const { entries, commands, limits, calls = [] } = history;
  const gone = entries.flatMap((entry) => (entry.type === 'replaced' ? entry.id : []));
  const known = {
    ...removeEntries(now, gone),
    ...{ loaded: true, commands, limits, calls: mergeCalls(now.calls, calls) },
  };
  const next = addEntries(known, entries.flatMap(toEntries));
  return next.live?.ended ? { ...next, live: null } : next;
}

function removeEntries(now: Conversation, ids: readonly string[]): Conversation {
  return { ...now, entries: now.entries.filter(({ id }) => !ids.includes(id)) };
}

/**
 * The message that *Ask again* repeats, which is the last one that was sent, is not a command, and
 * was not rewound.
 */
export function findLastQuestion(
  entries: readonly ConversationEntry[],
): PersonMessageEntry | undefined {
  const last = entries.findLast(
    (entry): entry is PersonMessageEntry =>
      entry.kind === 'mine' &&
      entry.delivery.kind === 'sent' &&
      entry.delivery.outcome !== 'command',
  );
  return last?.isRewound ? undefined : last;
}

function applyDelivery(
  now: Conversation,
  { id, delivery, at }: Extract<ConversationChange, { type: 'delivery' }>,
): Conversation {
  const entry = now.entries.find((other) => other.id === id);
  if (entry?.kind !== 'mine') return now;
  return addEntries(now, [{ ...entry, delivery, at: at ?? entry.at }]);
}

/**
 * Returns no entries for unknown events: the gateway may have been updated since the page was
 * loaded.
 */
function toEntries(
  entry: WebHistoryEntry | Extract<WebEvent, { type: 'inbound' }>,
): readonly ConversationEntry[] {
  if (entry.type === 'part') {
    const { partId, turnId, text, buttons = [], file, at, isRewound } = entry;
    const more = { ...(file && { file }), ...(isRewound && { isRewound }) };
    return [{ kind: 'answer', id: partId, turnId, html: text, buttons, at, ...more }];
  }
  if (entry.type !== 'inbound') return [];
  const { messageId: id, text, files = [], at, isRewound } = entry;
  const outcome = 'outcome' in entry ? entry.outcome : null;
  const delivery = { kind: 'sent', outcome } as const;
  return [{ kind: 'mine', id, text, files, at, delivery, ...(isRewound && { isRewound }) }];
}

function addEntries(now: Conversation, added: readonly ConversationEntry[]): Conversation {
  const byId = new Map(now.entries.map((entry) => [entry.id, entry]));
  for (const entry of added)
    byId.set(entry.id, mergeEntry(byId.get(entry.id), keepEntryPosition(entry, now.live)));
  const timeOf = (entry: ConversationEntry): number =>
    (entry.kind === 'answer' && byId.get(entry.place ?? '')?.at) || entry.at;
  const entries = [...byId.values()].sort(
    (a, b) => rankEntry(a) - rankEntry(b) || timeOf(a) - timeOf(b) || a.at - b.at,
  );
  const live = now.live && hasAnswer(entries, now.live.turnId) ? null : now.live;
  return { ...now, entries, live };
}

/**
 * Combines two versions of an entry. A message part keeps its first position; a message keeps its
 * most advanced delivery state.
 */
function mergeEntry(
  old: ConversationEntry | undefined,
  entry: ConversationEntry,
): ConversationEntry {
  if (old?.kind === 'answer' && entry.kind === 'answer') {
    return { ...entry, at: old.at, ...(old.place !== undefined && { place: old.place }) };
  }
  if (old?.kind !== 'mine' || entry.kind !== 'mine' || old.delivery.kind !== 'sent') return entry;
  // The message is already stored, so the state of another attempt does not matter.
  if (entry.delivery.kind !== 'sent') return old;
  const outcome = entry.delivery.outcome ?? old.delivery.outcome;
  return { ...entry, delivery: { ...old.delivery, ...entry.delivery, outcome } };
}

/** The parts of an answer stay where the answer was written. */
function keepEntryPosition(entry: ConversationEntry, live: LiveAnswer | null): ConversationEntry {
  if (entry.kind !== 'answer' || live?.turnId !== entry.turnId || live.place === null) return entry;
  return { ...entry, place: live.place };
}

function isUnsent(entry: ConversationEntry): boolean {
  return entry.kind === 'mine' && entry.delivery.kind !== 'sent';
}

/** Sort rank: unsent messages come last, and a question comes before its answer. */
function rankEntry(entry: ConversationEntry): number {
  return entry.kind === 'mine' && entry.delivery.kind === 'sending' ? 1 : 0;
}

function hasAnswer(entries: readonly ConversationEntry[], turnId: string): boolean {
  // An answer's file is sent before its text.
  return entries.some(
    (entry) => entry.kind === 'answer' && entry.turnId === turnId && entry.file === undefined,
  );
}

/**
 * The pressed button below an answer; null if there is none. It was pressed here or in another tab,
 * or its text was typed. It is derived from the conversation, so it survives reloads and restarts
 * of the gateway.
 */
export function findPressedButton(
  answer: AnswerEntry,
  entries: readonly ConversationEntry[],
): Button | null {
  return findButtonPress(answer, entries)?.button ?? null;
}

/** The labels of pressed buttons, keyed by the id of the message that each button press sent. */
export function listPressedLabels(
  entries: readonly ConversationEntry[],
): ReadonlyMap<string, string> {
  const presses = entries.flatMap((entry) =>
    entry.kind === 'answer' ? (findButtonPress(entry, entries) ?? []) : [],
  );
  return new Map(presses.map(({ id, button }) => [id, button.label]));
}

interface ButtonPressEntry {
  /** The id of the message. */
  readonly id: string;
  readonly button: Button;
}

function findButtonPress(
  { buttons, at }: AnswerEntry,
  entries: readonly ConversationEntry[],
): ButtonPressEntry | null {
  if (buttons.length === 0) return null;
  for (const entry of entries) {
    if (entry.kind !== 'mine' || entry.delivery.kind === 'refused') continue;
    // An unsent message has a time from this browser, whose clock may be wrong.
    if (entry.delivery.kind === 'sent' && entry.at < at) continue;
    const button = buttons.find(({ data }) => data === entry.text.trim());
    if (button !== undefined) return { id: entry.id, button };
  }
  return null;
}
