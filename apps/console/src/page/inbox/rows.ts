import type { WebChat } from '@parley/channels/web';
import type { OutputOf } from '@parley/gateway/operations';

export type ListedConversation = OutputOf<'conversations/list'>['conversations'][number];

/** A row of the inbox: a conversation of any channel, or a chat of this page. */
export interface InboxRow {
  readonly id: string;
  /** The row is known as a chat of this page alone: nothing can be asked about its conversation. */
  readonly isOnlyChat: boolean;
  /** The chat of this page; null: the conversation is on another channel. */
  readonly chat: string | null;
  readonly title: string;
  readonly channel: string;
  /** The channel as people read it, with its account and the kind of chat where they tell it apart. */
  readonly place: string;
  /** In ms; 0: nothing was said yet. */
  readonly at: number;
  readonly said: string;
  readonly state: ListedConversation['state'];
  readonly waiting: number;
  readonly mode: ListedConversation['mode'];
  /** Chosen for this conversation; null: that of the settings. */
  readonly model: string | null;
  readonly hasFailed: boolean;
  /** A person leads it instead of the agent. */
  readonly isTakenOver: boolean;
  readonly isNew: boolean;
  readonly isPinned: boolean;
  readonly isArchived: boolean;
}

/** The state of the rows that only this browser keeps. */
export interface RowMarks {
  readonly pinned: readonly string[];
  readonly archived: readonly string[];
  readonly names: Readonly<Record<string, string>>;
}

export const NO_MARKS: RowMarks = { pinned: [], archived: [], names: {} };

interface Known {
  readonly conversations: readonly ListedConversation[];
  readonly chats: readonly WebChat[];
  readonly newChats: ReadonlySet<string>;
  readonly isNew: (conversation: ListedConversation) => boolean;
  readonly marks: RowMarks;
  /** The rows of one agent alone are listed: its chats begin without a first one. */
  readonly isOfOneAgent: boolean;
}

const FIRST_CHAT = 'main';

/** One list of all conversations: pinned ones first, then the newest. A chat of the page is listed once. */
export function inboxRows({
  conversations,
  chats,
  newChats,
  isNew,
  marks,
  isOfOneAgent,
}: Known): InboxRow[] {
  const titles = new Map(chats.map(({ id, title }) => [id, title]));
  const rows = conversations.map((one): InboxRow => {
    const chat = chatOf(one);
    return {
      ...marked(one.id, marks),
      isOnlyChat: false,
      chat,
      title: marks.names[one.id] ?? (chat === null ? one.title : (titles.get(chat) ?? one.title)),
      channel: one.channel,
      place: conversationLabel(one),
      at: one.last.at,
      said: one.last.direction === 'out' ? `Answer: ${one.last.text}` : one.last.text,
      state: one.state,
      waiting: one.waiting,
      mode: one.mode,
      model: one.model,
      hasFailed: one.failure !== null,
      isTakenOver: one.takenOver !== null,
      isNew: chat === null ? isNew(one) : newChats.has(chat),
    };
  });
  const listed = new Set(rows.map(({ chat }) => chat));
  const first = { id: FIRST_CHAT, title: 'First chat', at: 0, answeredAt: 0 };
  const hasFirst = isOfOneAgent || chats.some(({ id }) => id === FIRST_CHAT);
  const others = hasFirst ? chats : [...chats, first];
  const quiet = others
    .filter(({ id }) => !listed.has(id))
    .map((one) => rowOfChat(one, newChats, marks));
  return [...rows, ...quiet].sort((a, b) => Number(b.isPinned) - Number(a.isPinned) || b.at - a.at);
}

/** A chat of the page whose conversation is further down, or is led on another channel. */
function rowOfChat(
  { id, title, at }: WebChat,
  newChats: ReadonlySet<string>,
  marks: RowMarks,
): InboxRow {
  const row = `chat ${id}`;
  return {
    ...marked(row, marks),
    isOnlyChat: true,
    ...{ chat: id, title: marks.names[row] ?? title, channel: 'web', place: 'web', at, said: '' },
    ...{
      state: 'idle',
      waiting: 0,
      mode: 'agent',
      model: null,
      hasFailed: false,
      isTakenOver: false,
      isNew: newChats.has(id),
    },
  };
}

function marked(id: string, { pinned, archived }: RowMarks) {
  return { id, isPinned: pinned.includes(id), isArchived: archived.includes(id) };
}

/** The chat of this page that a conversation is led in; null: it is led elsewhere. */
export function chatOf({ channel, account, chatId }: ListedConversation): string | null {
  return channel === 'web' && account === 'default' ? chatId : null;
}

/** The channel, its account where there are several, and the kind of chat. */
export function conversationLabel({
  channel,
  account,
  chatType,
}: Pick<ListedConversation, 'channel' | 'account' | 'chatType'>): string {
  const where = account === 'default' ? channel : `${channel}/${account}`;
  return chatType === 'direct' ? where : `${where} ${chatType}`;
}

export type RowFilter = 'all' | 'unread' | 'waiting' | 'mine' | 'failed' | 'archived';

/** The filters in their order, with their names. */
export const FILTERS: readonly (readonly [RowFilter, string])[] = [
  ['all', 'All'],
  ['unread', 'Unread'],
  ['waiting', 'Waiting'],
  ['failed', 'Failed'],
  ['mine', 'Mine'],
  ['archived', 'Archived'],
];

/** Whether a filter shows a row. Only their own filter shows archived rows, unless something waits in them. */
export function isShownBy(filter: RowFilter, row: InboxRow): boolean {
  if (filter === 'archived') return row.isArchived;
  if (row.isArchived && row.state !== 'asks') return false;
  switch (filter) {
    case 'all':
      return true;
    case 'unread':
      return row.isNew;
    case 'waiting':
      return row.state === 'asks';
    case 'failed':
      return row.hasFailed;
    case 'mine':
      return row.chat !== null;
  }
}

const WORDS = /[\p{L}\p{N}]+/gu;

/** One or two letters that stand for a title where there is no picture. */
export function initialsOf(title: string): string {
  const words = title.match(WORDS) ?? [];
  const letters =
    words.length > 1
      ? words.slice(0, 2).map((word) => [...word][0])
      : [...(words[0] ?? '?')].slice(0, 2);
  return letters.join('').toUpperCase();
}
