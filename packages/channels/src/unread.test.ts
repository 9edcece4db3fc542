import { expect, it } from 'vitest';
import { describeUnreadContent } from './unread.ts';

it.each([
  [
    'direct',
    '[They sent a story, which cannot be read here. Say so, and ask for text, a picture or a file.]',
  ],
  ['group', '[They sent a story, which cannot be read here.]'],
  ['thread', '[They sent a story, which cannot be read here.]'],
  ['channel', '[They sent a story, which cannot be read here.]'],
] as const)('[F16] names the unreadable content of a %s', (type, text) => {
  expect(describeUnreadContent('a story', type)).toBe(text);
});
