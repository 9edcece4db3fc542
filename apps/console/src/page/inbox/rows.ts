import type { WebChat } from '@parley/channels/web';
import type { OutputOf } from '@parley/gateway/operations';

type ConversationList = OutputOf<'conversations/list'>;
export type ListedConversation = ConversationList['conversations'][number];
/** The name, pin and archive state of a conversation in the reader's inbox. */
export type InboxMark = ConversationList['marks'][number];

/** A row in the inbox: a conversation on any channel, or a chat on this page. */
export interface InboxRow {
  readonly id: string;
  /** A chat on the page without messages, and therefore without a conversation. */
  readonly isEmpty: boolean;
  /** The conversation is older than all conversations in the list, so only its chat is known. */
  readonly isOnlyChat: boolean;
  /** The chat on this page; null if the conversation is on another channel. */
  readonly chat: string | null;
  readonly title: string;
  /** The title that the reader chose; null if the conversation has its original title. */
  readonly name: string | null;
  readonly channel: string;
  /**
   * The channel's display name, with the account and the kind of chat if they are needed to
   * distinguish conversations.
   */
  readonly place: string;
  /** In ms; 0 if the conversation has no messages yet. */
  readonly at: number;
  readonly said: string;
  readonly state: ListedConversation['state'];
  readonly waiting: number;
  readonly mode: ListedConversation['mode'];
  /** The model chosen for this conversation; null for the model in the settings. */
  readonly model: string | null;
  readonly hasFailed: boolean;
  /** Whether a person is leading the conversation instead of the agent. */
  readonly isTakenOver: boolean;
  readonly isNew: boolean;
  readonly isPinned: boolean;
  readonly isArchived: boolean;
}

interface InboxSources {
  readonly conversations: readonly ListedConversation[];
  readonly chats: readonly WebChat[];
  readonly marks: readonly InboxMark[];
  /** Whether the list shows only one agent; if so, the empty first chat is omitted. */
  readonly isOfOneAgent: boolean;
}

const FIRST_CHAT = 'main';

/**
 * All conversations in one list: pinned ones first, then the newest. Each chat on the page appears
 * once.
 */
export function listInboxRows({
  conversations,
  chats,
  marks,
  isOfOneAgent,
}: InboxSources): InboxRow[] {
  const markOf = new Map(marks.map((mark) => [mark.id, mark]));
  const titles = new Map(chats.map(({ id, title }) => [id, title]));
  const rows = conversations.map((one): InboxRow => {
    const chat = findPageChat(one);
    const title = chat === null ? one.title : (titles.get(chat) ?? one.title);
    return {
      ...applyRowMark(one.id, title, markOf.get(one.id)),
      isEmpty: false,
      isOnlyChat: false,
      chat,
      channel: one.channel,
      place: formatConversationLabel(one),
      at: one.last.at,
      said: getPreview(one),
      state: one.state,
      waiting: one.waiting,
      mode: one.mode,
      model: one.model,
      hasFailed: one.failure !== null,
      isTakenOver: one.takenOver !== null,
      isNew: one.isNew,
    };
  });
  const listed = new Set(rows.map(({ chat }) => chat));
  const hasFirst = isOfOneAgent || chats.some(({ id }) => id === FIRST_CHAT);
  const others = chats.filter(({ id }) => !listed.has(id));
  const quiet = others.map((one) => toChatRow(one, markOf.get(one.conversation)));
  const empty = hasFirst || listed.has(FIRST_CHAT) ? [] : [EMPTY_CHAT];
  return [...rows, ...quiet, ...empty].sort(
    (a, b) => Number(b.isPinned) - Number(a.isPinned) || b.at - a.at,
  );
}

const QUIET = {
  channel: 'web',
  place: 'web',
  said: '',
  state: 'idle',
  waiting: 0,
  mode: 'agent',
  model: null,
  hasFailed: false,
  isTakenOver: false,
  isNew: false,
  isOnlyChat: true,
} satisfies Partial<InboxRow>;

/** A chat on the page whose conversation is further down the list or on another channel. */
function toChatRow(
  { id, conversation, title, at }: WebChat,
  mark: InboxMark | undefined,
): InboxRow {
  return { ...QUIET, ...applyRowMark(conversation, title, mark), isEmpty: false, chat: id, at };
}

/** The chat that the page shows before there are any messages. */
const EMPTY_CHAT: InboxRow = {
  ...QUIET,
  ...{ id: `chat ${FIRST_CHAT}`, chat: FIRST_CHAT, title: 'First chat', name: null, at: 0 },
  ...{ isEmpty: true, isPinned: false, isArchived: false },
};

function applyRowMark(id: string, title: string, mark: InboxMark | undefined) {
  const { title: name = null, isPinned = false, isArchived = false } = mark ?? {};
  return { id, title: name ?? title, name, isPinned, isArchived };
}

/** Conversations that the reader has named and that are older than all rows. */
export function listOlderNamedConversations(
  marks: readonly InboxMark[],
  rows: readonly InboxRow[],
): readonly Pick<InboxRow, 'id' | 'chat' | 'title'>[] {
  const listed = new Set(rows.map(({ id }) => id));
  return marks.flatMap(({ id, title }) =>
    title === null || listed.has(id) ? [] : [{ id, title, chat: null }],
  );
}

/**
 * The last message of a conversation. The speaker is named only if the title does not name them.
 * This is the case for a group member, and for the reader in their own chat.
 */
function getPreview({ last: { direction, by, text }, channel }: ListedConversation): string {
  if (direction === 'in' && channel === 'web') return `You: ${text}`;
  return by === null ? text : `${by}: ${text}`;
}

/**
 * The chat on this page that contains a conversation; null if the conversation is on another
 * channel.
 */
export function findPageChat({ channel, account, chatId }: ListedConversation): string | null {
  return channel === 'web' && account === 'default' ? chatId : null;
}

/** The channel, its account if there are several, and the kind of chat. */
export function formatConversationLabel({
  channel,
  account,
  chatType,
}: Pick<ListedConversation, 'channel' | 'account' | 'chatType'>): string {
  const where = account === 'default' ? channel : `${channel}/${account}`;
  return chatType === 'direct' ? where : `${where} ${chatType}`;
}

export type RowFilter = 'all' | 'unread' | 'waiting' | 'mine' | 'failed' | 'archived';

/** The filters with their names, in display order. */
export const FILTERS: readonly (readonly [RowFilter, string])[] = [
  ['all', 'All'],
  ['unread', 'Unread'],
  ['waiting', 'Waiting'],
  ['failed', 'Failed'],
  ['mine', 'Mine'],
  ['archived', 'Archived'],
];

/**
 * Whether a filter shows a row. Archived rows appear only under their own filter, unless something
 * is waiting in them.
 */
export function matchesFilter(filter: RowFilter, row: InboxRow): boolean {
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

/** One or two letters from a title, shown in place of a picture. */
export function getInitials(title: string): string {
  const words = title.match(WORDS) ?? [];
  const letters =
    words.length > 1
      ? words.slice(0, 2).map((word) => [...word][0])
      : [...(words[0] ?? '?')].slice(0, 2);
  return letters.join('').toUpperCase();
}
