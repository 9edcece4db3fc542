import { describe, expect, it } from 'vitest';
import { filterEntries, movePosition, type PaletteEntry } from './entries.ts';
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

  it('[U03] can be navigated with the arrow keys, which wrap around', () => {
    expect(movePosition('ArrowDown', 2, 3)).toBe(0);
    expect(movePosition('ArrowUp', 0, 3)).toBe(2);
    expect(movePosition('Enter', 0, 3)).toBeNull();
    expect(movePosition('ArrowDown', 0, 0)).toBeNull();
  });

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
    '[U03] opens with a shortcut, unless the key is text there: %o in a field: %s',
    (pressed, isTyping, shortcut) => {
      expect(findShortcut(pressed, isTyping)).toBe(shortcut);
    },
  );
});
