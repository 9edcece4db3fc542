import { describe, expect, it } from 'vitest';
import { readMarks, renamed, toggled } from './row-marks.ts';
import {
  FILTERS,
  type InboxRow,
  inboxRows,
  initialsOf,
  isShownBy,
  type ListedConversation,
  NO_MARKS,
} from './rows.ts';

function conversation(id: string, more: Partial<ListedConversation> = {}): ListedConversation {
  return {
    ...{ id, channel: 'telegram', account: 'default', chatId: id, chatType: 'direct', title: id },
    ...{ mode: 'agent', model: null, state: 'idle', waiting: 0, runningSince: null, failure: null },
    ...{
      newest: 1,
      agent: 'main',
      takenOver: null,
      last: { direction: 'in', at: 1, text: 'hello' },
    },
    ...more,
  };
}

const known = {
  conversations: [] as readonly ListedConversation[],
  chats: [],
  newChats: new Set<string>(),
  isNew: () => false,
  marks: NO_MARKS,
  isOfOneAgent: false,
};

const at = (moment: number) => ({ last: { direction: 'in', at: moment, text: '' } }) as const;

describe('the rows of the inbox', () => {
  it('[U03] list a chat of the page once, by its own title, beside conversations of all channels', () => {
    const own = conversation('w', { channel: 'web', chatId: 'c1', title: 'Owner', ...at(5) });
    const rows = inboxRows({
      ...known,
      conversations: [conversation('t', at(9)), own],
      chats: [
        { id: 'c1', title: 'Ships', at: 5, answeredAt: 6 },
        { id: 'c2', title: 'Older', at: 2, answeredAt: 2 },
      ],
      newChats: new Set(['c1']),
    });
    expect(rows.map(({ title, chat, isNew }) => [title, chat, isNew])).toEqual([
      ['t', null, false],
      ['Ships', 'c1', true],
      ['Older', 'c2', false],
      ['First chat', 'main', false],
    ]);
  });

  it('[U03] begin with what is pinned, and have the names that were given', () => {
    const marks = renamed(toggled(NO_MARKS, 'pinned', 'a'), 'b', ' Bakery ');
    const rows = inboxRows({
      ...known,
      conversations: [conversation('b', at(9)), conversation('a', at(1))],
      marks,
      isOfOneAgent: true,
    });
    expect(rows.map(({ title }) => title)).toEqual(['a', 'Bakery']);
    expect(renamed(marks, 'b', ' ').names).toEqual({});
    expect(toggled(marks, 'pinned', 'a').pinned).toEqual([]);
  });

  it.each<[string, Partial<InboxRow>, readonly string[]]>([
    ['a quiet one', {}, ['all']],
    ['a new one', { isNew: true }, ['all', 'unread']],
    ['one that asks', { state: 'asks' }, ['all', 'waiting']],
    ['one that waits for its turn', { state: 'waiting' }, ['all']],
    ['a failed one', { hasFailed: true }, ['all', 'failed']],
    ['a chat of the page', { chat: 'main' }, ['all', 'mine']],
    ['an archived one', { isArchived: true, isNew: true }, ['archived']],
    [
      'an archived one that asks',
      { isArchived: true, state: 'asks' },
      ['all', 'waiting', 'archived'],
    ],
  ])('[U03] are filtered: %s', (_, facts, filters) => {
    const [row] = inboxRows({ ...known, conversations: [conversation('a')], isOfOneAgent: true });
    const one = { ...(row as InboxRow), ...facts };
    expect(FILTERS.map(([filter]) => filter).filter((filter) => isShownBy(filter, one))).toEqual(
      filters,
    );
  });

  it.each([
    ['Ann Lindqvist', 'AL'],
    ['#builds', 'BU'],
    ['公园', '公园'],
    ['👋', '?'],
  ])('[U03] have letters for a picture: %s', (title, letters) => {
    expect(initialsOf(title)).toBe(letters);
  });

  it.each([
    '',
    '{}',
    '[]',
    '{"pinned":[1],"archived":[],"names":{}}',
    '{"pinned":[],"archived":[],"names":{"a":1}}',
  ])('[U03] have no marks where the browser stores something else: %s', (stored) => {
    expect(readMarks({ getItem: () => stored })).toEqual(NO_MARKS);
  });
});
