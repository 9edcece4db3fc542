import { describe, expect, it } from 'vitest';
import { unseenChats } from './seen-chats.ts';

const chats = (a: number, b: number) => [
  { id: 'a', answeredAt: a },
  { id: 'b', answeredAt: b },
];

describe('marks of chats', () => {
  it('[U08] are on those that were answered while another one was shown', () => {
    const kept = new Map<string, string>();
    const storage = {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
    };
    const unseen = (list: ReturnType<typeof chats>, id: string, answeredAt = 0) => [
      ...unseenChats(list, { id, answeredAt }, storage),
    ];
    expect(unseen(chats(5, 0), 'a')).toEqual([]);
    expect(unseen(chats(5, 7), 'a')).toEqual(['b']);
    expect(unseen(chats(9, 7), 'b')).toEqual(['a']);
    expect(unseen(chats(9, 7), 'c')).toEqual(['a']);
    expect(unseen(chats(9, 7), 'a')).toEqual([]);
    // Read as it came, before the list was asked for again.
    unseen(chats(9, 7), 'a', 12);
    expect(unseen(chats(12, 7), 'b')).toEqual([]);
    // A new chat, left before the list knows of it.
    unseen(chats(12, 7), 'new');
    expect(unseen([{ id: 'new', answeredAt: 20 }], 'b')).toEqual(['new']);
  });
});
