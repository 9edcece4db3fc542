import type { OutboundPart } from '@parley/core';
import { expect, it } from 'vitest';
import { parseButtonId } from './component-layout.ts';
import { createPartBody } from './format.ts';

const target = { dialect: 'discord', maxLength: 2000, unit: 'utf16' } as const;
const part = (more: Partial<OutboundPart>): OutboundPart => ({
  id: 'p',
  idempotencyKey: 'k',
  turnId: null,
  index: null,
  route: { channel: 'discord', account: 'default', chatId: '1', target },
  body: { text: 'a', plain: 'a' },
  ...more,
});

it('[M05] does not notify anyone of a message unless mentions are live', () => {
  expect(createPartBody(part({}), true)).toEqual({
    content: 'a',
    allowed_mentions: { parse: [], replied_user: false },
  });
  const route = { ...part({}).route, target: { ...target, mentions: 'live' as const } };
  expect(createPartBody(part({ route }), true)).toMatchObject({
    allowed_mentions: { parse: ['users', 'roles', 'everyone'] },
  });
});

it("[F09] parses a button's data from its id, even if two buttons have the same data", () => {
  const data = `${'x'.repeat(62)}:y`;
  const { components } = createPartBody(
    part({
      buttons: [
        { label: 'A', data },
        { label: 'B', data },
      ],
    }),
    true,
  );
  const ids = JSON.stringify(components).match(/(?<="custom_id":")[^"]+/g) ?? [];
  expect(new Set(ids).size).toBe(2);
  expect(ids.map((id) => id.length <= 100 && parseButtonId(id))).toEqual([data, data]);
  expect(parseButtonId('somebody else')).toBeUndefined();
});
