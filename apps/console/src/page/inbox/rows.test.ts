import { describe, expect, it } from 'vitest';
import {
  FILTERS,
  getInitials,
  type InboxRow,
  type ListedConversation,
  listInboxRows,
  listOlderNamedConversations,
  matchesFilter,
} from './rows.ts';

function conversation(id: string, more: Partial<ListedConversation> = {}): ListedConversation {
  return {
    ...{ id, channel: 'telegram', account: 'default', chatId: id, chatType: 'direct', title: id },
    name: null,
    ...{ mode: 'agent', model: null, state: 'idle', waiting: 0, runningSince: null, failure: null },
    ...{
      ...{ newest: 1, newestPart: 0, isNew: false, agent: 'main', takenOver: null },
      last: { direction: 'in', at: 1, text: 'hello', by: null },
    },
    ...more,
  };
}

const known = {
  conversations: [] as readonly ListedConversation[],
  chats: [],
  marks: [],
  isOfOneAgent: false,
};

const at = (moment: number) =>
  ({ last: { direction: 'in', at: moment, text: '', by: null } }) as const;

describe('the inbox rows', () => {
  it('[U03] lists each chat on the page once, under its own title, beside conversations on all channels', () => {
    const web = { channel: 'web', chatId: 'c1', title: 'Owner', isNew: true };
    const own = conversation('w', { ...web, ...at(5) });
    const rows = listInboxRows({
      ...known,
      conversations: [conversation('t', at(9)), own],
      chats: [
        { id: 'c1', conversation: 'w', title: 'Ships', at: 5, answeredAt: 6 },
        { id: 'c2', conversation: 'w2', title: 'Older', at: 2, answeredAt: 2 },
      ],
    });
    expect(rows.map(({ title, chat, isNew }) => [title, chat, isNew])).toEqual([
      ['t', null, false],
      ['Ships', 'c1', true],
      ['Older', 'c2', false],
      ['First chat', 'main', false],
    ]);
  });

  it('[U03] lists pinned conversations first and shows the names chosen for them', () => {
    const none = { title: null, isPinned: false, isArchived: false };
    const rows = listInboxRows({
      ...known,
      conversations: [conversation('b', at(9)), conversation('a', at(1))],
      chats: [{ id: 'c', conversation: 'w', title: 'Old', at: 1, answeredAt: 0 }],
      marks: [
        { ...none, id: 'a', isPinned: true },
        { ...none, id: 'b', title: 'Bakery' },
        { ...none, id: 'w', title: 'Harbor', isArchived: true },
      ],
      isOfOneAgent: true,
    });
    expect(rows.map(({ title, name, isArchived }) => [title, name, isArchived])).toEqual([
      ['a', null, false],
      ['Bakery', 'Bakery', false],
      ['Harbor', 'Harbor', true],
    ]);
  });

  it('[U08] omits the names of older conversations, which the search and the palette still find', () => {
    const named = { isPinned: false, isArchived: false };
    const marks = [
      { ...named, id: 'a', title: 'Bakery' },
      { ...named, id: 'older', title: 'Harbor' },
      { ...named, id: 'pinned once', title: null },
    ];
    const rows = listInboxRows({ ...known, conversations: [conversation('a')], marks });
    expect(listOlderNamedConversations(marks, rows)).toEqual([
      { id: 'older', title: 'Harbor', chat: null },
    ]);
  });

  it.each([
    ['the agent in a direct chat', {}, 'out', null, 'Yes.'],
    ['a person in a direct chat, whose name is the title', {}, 'in', null, 'Yes.'],
    ['a member of a group', { chatType: 'group' }, 'in', 'Mia', 'Mia: Yes.'],
    ['the agent in a group', { chatType: 'group' }, 'out', null, 'Yes.'],
    ['the reader in their own chat', { channel: 'web' }, 'in', null, 'You: Yes.'],
    ["the agent in the reader's own chat", { channel: 'web' }, 'out', null, 'Yes.'],
  ] as const)(
    '[U12] names the speaker if the title does not: %s',
    (_, facts, direction, by, said) => {
      const last = { direction, at: 1, text: 'Yes.', by };
      const [row] = listInboxRows({
        ...known,
        conversations: [conversation('a', { ...facts, last })],
      });
      expect(row?.said).toBe(said);
    },
  );

  it.each<[string, Partial<InboxRow>, readonly string[]]>([
    ['a quiet one', {}, ['all']],
    ['a new one', { isNew: true }, ['all', 'unread']],
    ['one with a pending approval', { state: 'asks' }, ['all', 'waiting']],
    ['one waiting for its turn', { state: 'waiting' }, ['all']],
    ['a failed one', { hasFailed: true }, ['all', 'failed']],
    ['a chat of the page', { chat: 'main' }, ['all', 'mine']],
    ['an archived one', { isArchived: true, isNew: true }, ['archived']],
    [
      'an archived one with a pending approval',
      { isArchived: true, state: 'asks' },
      ['all', 'waiting', 'archived'],
    ],
  ])('[U03] matches a row to its filters: %s', (_, facts, filters) => {
    const [row] = listInboxRows({
      ...known,
      conversations: [conversation('a')],
      isOfOneAgent: true,
    });
    const one = { ...(row as InboxRow), ...facts };
    expect(
      FILTERS.map(([filter]) => filter).filter((filter) => matchesFilter(filter, one)),
    ).toEqual(filters);
  });

  it.each([
    ['Ann Lindqvist', 'AL'],
    ['#builds', 'BU'],
    ['公园', '公园'],
    ['👋', '?'],
  ])('[U03] shows the initials of a conversation as its picture: %s', (title, letters) => {
    expect(getInitials(title)).toBe(letters);
  });
});
