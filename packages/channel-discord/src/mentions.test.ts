import { expect, it } from 'vitest';
import { replaceMentions } from './mentions.ts';

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
  ['at <t:1793527200> or <t:1793527200:R>', 'at 2026-11-01 10:00 UTC or 2026-11-01 10:00 UTC'],
  ['<t:9999999999999> <t:x>', '<t:9999999999999> <t:x>'],
  ['<id:customize>, <id:browse>, <id:guide>', 'Channels & Roles, Browse Channels, Server Guide'],
  ['<id:linked-roles:55> <id:other>', 'Linked Roles <id:other>'],
  ['<sound:0:5>', '[sound of the soundboard]'],
  ['[docs](https://example.org) and ||secret||', '[docs](https://example.org) and ||secret||'],
  ['<@1> <@&2> <#3>', '<@1> <@&2> <#3>'],
  ['a < b, c <d> and <https://example.org>', 'a < b, c <d> and <https://example.org>'],
])('[F16] replaces markers with what people see: %s', (text, plain) => {
  expect(replaceMentions(text, users, nameOf)).toBe(plain);
});
