import { parseId } from '@parley/core';
import { toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CHANNEL_DEFINITIONS } from './channel-definitions.ts';

/** Ids in the form that each channel uses in messages. */
const CARRIED = {
  web: { person: ['owner'], direct: ['main', '0123456789abcdef0123456789abcdef', '@helper/main'] },
  terminal: { person: ['owner'], direct: ['main'] },
  discord: {
    person: ['80351110224678912', '12345678901234567890'],
    group: ['123456789012345678'],
    direct: ['123456789012345678'],
    role: ['123456789012345678'],
    thread: ['123456789012345678'],
  },
  telegram: {
    person: ['42', '7123456789'],
    group: ['-5', '-1001234567890'],
    direct: ['42'],
    thread: ['1', '1207'],
  },
  whatsapp: {
    person: ['491511234567', '123456789012345@lid'],
    group: ['120363012345678901@g.us', '491511234567-1412345678@g.us'],
    direct: ['491511234567@s.whatsapp.net', '123456789012345@lid'],
  },
} as const;

const forms = CHANNEL_DEFINITIONS.flatMap(({ id, ids }) =>
  Object.entries(ids ?? {}).flatMap(([kind, form]) => (form === null ? [] : [{ id, kind, form }])),
);

describe('[D12] the format of ids on each channel', () => {
  it('is declared by every channel', () => {
    expect(CHANNEL_DEFINITIONS.filter(({ ids }) => ids === undefined)).toEqual([]);
  });

  it.each(forms)('accepts ids from messages unchanged: $kind of $id', ({ id, kind, form }) => {
    const carried: Readonly<Record<string, readonly string[]>> = Object(Reflect.get(CARRIED, id));
    expect(carried[kind]?.length).toBeGreaterThan(0);
    for (const one of carried[kind] ?? []) {
      expect(form.normalize(one)).toBe(one);
      expect(form.normalize(` ${one}\n`)).toBe(one);
    }
  });

  const pieces = fc.constantFrom(
    ...['+49', '0', '(0)', ' ', '-', '−', '@', '#', '<', '>', '!', '&', 'c.us', '@g.us', '@lid'],
    ...['@s.whatsapp.net', 'https://t.me/', 'c/', 'https://discord.com/channels/', '1511234567'],
    ...['123456789012345678', '120363', ':', '/', '.', 'ann', '\u202a', '\u00a0', '٣', '1e5'],
  );
  const text = fc.oneof(
    fc.array(pieces, { maxLength: 6 }).map((some) => some.join('')),
    fc.string({ unit: 'binary', maxLength: 40 }),
  );

  it.each(forms)('rejects other text as invalid and suggests a fix: $kind of $id', ({ form }) => {
    fc.assert(
      fc.property(text, (written) => {
        const read = parseId(written, [form]);
        if (read.kind === 'wrong') {
          expect(read.expected).toContain(form.howToFind);
          return;
        }
        expect(form.normalize(read.id)).toBe(read.id);
        expect(read.id).toMatch(/^[!-~]+$/);
      }),
      toRunOptions(500),
    );
  });
});
