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
    expect([...unseenChats(chats(5, 0), 'a', storage)]).toEqual([]);
    expect([...unseenChats(chats(5, 7), 'a', storage)]).toEqual(['b']);
    expect([...unseenChats(chats(9, 7), 'b', storage)]).toEqual(['a']);
    expect([...unseenChats(chats(9, 7), 'c', storage)]).toEqual(['a']);
    expect([...unseenChats(chats(9, 7), 'a', storage)]).toEqual([]);
  });
});
