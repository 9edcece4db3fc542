import { describe, expect, it } from 'vitest';
import { dropBrowserMarks, readBrowserMarks } from './browser-marks.ts';
import type { ListedConversation } from './rows.ts';

const chat = (id: string, answeredAt: number) => {
  return { id, conversation: `web:default:${id}`, title: id, at: 1, answeredAt };
};
const conversation = (id: string, newest: number, channel = 'telegram') =>
  ({ id, newest, channel }) as ListedConversation;

const known = {
  conversations: [conversation('t1', 9), conversation('t2', 7), conversation('t3', 4)],
  chats: [chat('main', 50), chat('b', 60)],
};

function storageOf(kept: Record<string, string>) {
  return {
    kept,
    getItem: (key: string) => kept[key] ?? null,
    removeItem(key: string) {
      delete kept[key];
    },
  };
}

describe('inbox marks stored by earlier versions in the browser', () => {
  it('[U12] transfers inbox marks by conversation id, including what was unread', () => {
    const storage = storageOf({
      'parley.inbox': JSON.stringify({
        ...{ pinned: ['t1', 'chat b'], archived: ['t2'] },
        names: { t1: 'Ann', 'chat main': 'x'.repeat(99) },
      }),
      'parley.seen': JSON.stringify({ base: 5, upTo: { t1: 9 } }),
      'parley.seen.main': '40',
      'parley.seen.b': '60',
      'parley.draft.t1': 'a draft',
    });
    expect(readBrowserMarks(storage, known)).toEqual({
      pinned: ['t1', 'web:default:b'],
      archived: ['t2'],
      titles: { t1: 'Ann', 'web:default:main': 'x'.repeat(80) },
      unread: ['t2', 'web:default:main'],
    });
    dropBrowserMarks(storage, known.chats);
    expect(storage.kept).toEqual({ 'parley.draft.t1': 'a draft' });
    expect(readBrowserMarks(storage, known)).toBeNull();
  });

  it.each([
    ['no JSON', '{'],
    ['a number', '7'],
    ['other fields', '{"pinned":{},"names":[],"archived":[1]}'],
  ])('[U12] does not transfer invalid inbox marks: %s', (_case, text) => {
    const nothing = { pinned: [], archived: [], titles: {}, unread: [] };
    expect(readBrowserMarks(storageOf({ 'parley.inbox': text }), known) ?? nothing).toEqual(
      nothing,
    );
  });
});
