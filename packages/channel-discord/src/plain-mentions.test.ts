import { expect, it } from 'vitest';
import { plainMentions } from './plain-mentions.ts';

const users = new Map([['7', 'Ann']]);
const others = new Map([
  ['role 8', 'crew'],
  ['channel 9', 'general'],
]);
const nameOf = (kind: 'role' | 'channel', id: string) => others.get(`${kind} ${id}`);

it.each([
  ['<@7> and <@!7>', '@Ann and @Ann'],
  ['<@&8> in <#9>', '@crew in #general'],
  ['<:wave:123> <a:dance:124>', ':wave: :dance:'],
  ['use </status:55> or </config show:56>', 'use /status or /config show'],
  ['<@1> <@&2> <#3>', '<@1> <@&2> <#3>'],
  ['a < b, c <d> and <https://example.org>', 'a < b, c <d> and <https://example.org>'],
])('mentions are written as people see them: %s', (text, plain) => {
  expect(plainMentions(text, users, nameOf)).toBe(plain);
});
