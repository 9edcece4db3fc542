import { describe, expect, it } from 'vitest';
import { filterEntries, movePosition, type PaletteEntry, resolveCommandTarget } from './entries.ts';
import { findShortcut } from './shortcuts.ts';

const entry = (label: string, hint = ''): PaletteEntry => {
  return { id: label, kind: 'Pages', label, hint };
};
const ENTRIES = [
  entry('Heartbeat', 'Agent'),
  entry('Audit', 'Operate'),
  entry('Größe', 'telegram'),
  entry('/status', 'how I am doing'),
  entry('Status', 'Operate'),
];

describe('the palette', () => {
  it.each([
    ['', ['Heartbeat', 'Audit', 'Größe', '/status', 'Status']],
    ['sta', ['/status', 'Status']],
    ['/sta', ['/status']],
    ['operate', ['Audit', 'Status']],
    ['beat', ['Heartbeat']],
    ['GROSSE', ['Größe']],
    ['stat oper', ['Status']],
    ['nothing', []],
  ])('[U03] finds pages, chats and commands by "%s"', (typed, labels) => {
    expect(filterEntries(ENTRIES, typed).map(({ label }) => label)).toEqual(labels);
  });

  it('[U03] moves through the entries with the arrow keys and wraps around at both ends', () => {
    expect(movePosition('ArrowDown', 2, 3)).toBe(0);
    expect(movePosition('ArrowUp', 0, 3)).toBe(2);
    expect(movePosition('Enter', 0, 3)).toBeNull();
    expect(movePosition('ArrowDown', 0, 0)).toBeNull();
  });

  const own = { id: 'w', chat: 'c2' };
  const other = { id: 't', chat: null };
  const toChat = (chat: string) => ({ kind: 'chat', chat });
  it.each([
    ['the chat', null, own, 'new', toChat('c1')],
    ['another chat of the page', 'w', own, 'new', toChat('c2')],
    [
      'a conversation on another channel',
      't',
      other,
      'new',
      { kind: 'conversation', id: 't', operation: 'conversations/new-session' },
    ],
    [
      'a conversation that the list has not loaded',
      't',
      null,
      'stop',
      { kind: 'conversation', id: 't', operation: 'conversations/stop' },
    ],
    ['a conversation into which nothing can be typed', 't', other, 'help', toChat('c1')],
    ['a conversation while the row is still that of a chat', 't', own, 'help', toChat('c1')],
  ] as const)(
    '[U03] runs a command on the chat or conversation that is shown: %s',
    (_case, conversation, row, command, target) => {
      expect(resolveCommandTarget(command, { chat: 'c1', conversation, row })).toEqual(target);
    },
  );

  const key = (name: string, more = {}) => {
    return { key: name, ctrlKey: false, metaKey: false, altKey: false, ...more };
  };
  it.each([
    [key('k', { ctrlKey: true }), true, 'palette'],
    [key('K', { metaKey: true }), false, 'palette'],
    [key('k'), false, null],
    [key('?'), false, 'help'],
    [key('?'), true, null],
    [key('/'), false, 'search'],
    [key('n'), false, 'new-chat'],
    [key('n'), true, null],
    [key('n', { ctrlKey: true }), false, null],
    [key('@', { altKey: true }), false, null],
  ] as const)(
    '[U03] opens the palette with a shortcut unless the key types text: %o in a field: %s',
    (pressed, isTyping, shortcut) => {
      expect(findShortcut(pressed, isTyping)).toBe(shortcut);
    },
  );
});
