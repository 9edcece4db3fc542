import { parseId } from '@parley/core';
import { toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PLATFORMS } from '../catalog.ts';

const GUID = '01234567-89ab-cdef-0123-456789abcdef';
const CHANNEL = '19:abc_DEF-1@thread.tacv2';

/** Sample ids from the messages of each platform. */
const CARRIED: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  slack: {
    person: ['U012AB3CD', 'W012AB3CD'],
    group: ['C012AB3CD', 'G012AB3CD'],
    direct: ['D012AB3CD'],
    thread: ['1700000000.123456'],
  },
  teams: {
    person: ['29:1AbC-def_ghi1234567890'],
    group: [CHANNEL, '19:0123abcd@thread.v2'],
    direct: ['a:1AbC-def_ghi1234567890', '19:0123abcd@unq.gbl.spaces'],
    thread: ['1700000000000'],
  },
  'google-chat': {
    person: ['users/123456789012345678901'],
    group: ['spaces/AAAA1234567'],
    direct: ['spaces/AAAA1234567'],
    thread: [Buffer.from('spaces/AAAA1234567/threads/BBB-b').toString('base64url')],
  },
  github: {
    person: ['583231'],
    group: ['octocat/Hello-World', 'o/a.b'],
    direct: ['octocat/hello'],
    thread: ['42', 'issue:42', '42:rc:7'],
  },
  linear: {
    person: [GUID],
    group: [GUID],
    direct: [GUID],
    thread: [`c:${GUID}`, `c:${GUID}:s:${GUID}`, `s:${GUID}`],
  },
  'whatsapp-cloud': {
    person: ['491511234567', 'US.13491208655302741918', 'DE.ENT.abc123'],
    direct: ['123456789012345:491511234567', '123456789012345:US.13491208655302741918'],
  },
};

const forms = PLATFORMS.flatMap(({ channel, ids }) =>
  Object.entries(ids).flatMap(([kind, form]) => (form === null ? [] : [{ channel, kind, form }])),
);

describe('[F15] [D12] the ids of a hosted platform', () => {
  it.each(forms)('are accepted in the form that messages contain: $kind of $channel', (one) => {
    const carried = CARRIED[one.channel]?.[one.kind] ?? [];
    expect(carried.length).toBeGreaterThan(0);
    for (const id of carried) {
      expect(one.form.normalize(id)).toBe(id);
      expect(one.form.normalize(` ${id}\n`)).toBe(id);
    }
  });

  it.each([
    ['slack', 'person', '<@U012AB3CD>', 'U012AB3CD'],
    ['slack', 'person', '<@U012AB3CD|ann>', 'U012AB3CD'],
    ['slack', 'group', '<#C012AB3CD|general>', 'C012AB3CD'],
    [
      ...(['slack', 'group'] as const),
      'https://acme.slack.com/archives/C012AB3CD/p1700000000123456',
      'C012AB3CD',
    ],
    ['slack', 'group', 'https://app.slack.com/client/T012AB3CD/C012AB3CD', 'C012AB3CD'],
    [
      ...(['teams', 'group'] as const),
      'https://teams.microsoft.com/l/channel/19%3Aabc_DEF-1%40thread.tacv2/General?groupId=1',
      CHANNEL,
    ],
    ['teams', 'group', `${CHANNEL};messageid=1700000000000`, CHANNEL],
    [
      'google-chat',
      'group',
      'https://chat.google.com/room/AAAA1234567?cls=7',
      'spaces/AAAA1234567',
    ],
    [
      ...(['google-chat', 'group'] as const),
      'https://mail.google.com/mail/u/0/#chat/space/AAAA1234567',
      'spaces/AAAA1234567',
    ],
    ['github', 'group', 'https://github.com/octocat/hello-world/issues/4', 'octocat/hello-world'],
    ['github', 'group', 'github.com/octocat/hello-world.git', 'octocat/hello-world'],
    ['github', 'thread', 'https://github.com/octocat/hello-world/pull/4', '4'],
    ['github', 'thread', 'https://github.com/octocat/hello-world/issues/4#c', 'issue:4'],
    ['github', 'thread', '#4', '4'],
    ['linear', 'thread', GUID, `c:${GUID}`],
    [
      ...(['google-chat', 'thread', 'spaces/AAAA1234567/threads/BBB-b'] as const),
      Buffer.from('spaces/AAAA1234567/threads/BBB-b').toString('base64url'),
    ],
    ['whatsapp-cloud', 'person', '+49 (0)1511 234567', '491511234567'],
    ['whatsapp-cloud', 'person', 'https://wa.me/491511234567', '491511234567'],
  ])('are normalized from the form that people copy: %s %s %s', (channel, kind, written, id) => {
    const form = forms.find((one) => one.channel === channel && one.kind === kind)?.form;
    expect(form?.normalize(written)).toBe(id);
  });

  it.each([
    ['slack', 'person', '@ann', 'a @name can be transferred to somebody else'],
    ['slack', 'group', '#general', 'a #name can change'],
    ['teams', 'person', GUID, 'an Entra id'],
    ['google-chat', 'person', 'ann@example.org', 'email addresses to apps'],
    ['github', 'person', 'octocat', 'a login can be transferred to another person'],
    ['linear', 'group', 'ENG-123', 'moved to another team'],
    ['whatsapp-cloud', 'person', '01511 234567', 'the country code is missing'],
  ])(
    'are rejected with an explanation if they are invalid: %s %s %s',
    (channel, kind, written, reason) => {
      const form = forms.find((one) => one.channel === channel && one.kind === kind)?.form;
      const read = form && parseId(written, [form]);
      expect(read).toMatchObject({ kind: 'wrong', expected: expect.stringContaining(reason) });
    },
  );

  const pieces = fc.constantFrom(
    ...['+49', '0', ' ', '-', '@', '#', '<', '>', '|', '/', '.', ':', 'spaces/', 'users/', '29:'],
    ...['https://', 'acme.slack.com/archives/', 'github.com/', 'octocat/hello', 'U012AB3CD', GUID],
    ...['19:abc@thread.v2', 'ann', '\u202a', '\u00a0', '٣', '1511234567', '%40', 'DE.'],
  );
  const text = fc.oneof(
    fc.array(pieces, { maxLength: 5 }).map((some) => some.join('')),
    fc.string({ unit: 'binary', maxLength: 40 }),
  );

  it.each(forms)('do not change if they are normalized again: $kind of $channel', ({ form }) => {
    const check = (written: string): void => {
      const read = parseId(written, [form]);
      if (read.kind === 'wrong') {
        expect(read.expected).toContain(form.howToFind);
        return;
      }
      expect(form.normalize(read.id)).toBe(read.id);
      expect(read.id).toMatch(/^[!-~]+$/);
    };
    fc.assert(fc.property(text, check), toRunOptions(300));
  });
});

describe('[F15] the description of each hosted platform', () => {
  it.each(PLATFORMS.map((one) => [one.name, one] as const))('is complete: %s', (_name, one) => {
    const { options, asks, notDurable } = one;
    const needs = typeof one.needs === 'function' ? one.needs({}) : one.needs;
    for (const key of [...asks, ...needs.flat(2)]) expect(Object.keys(options)).toContain(key);
    for (const sentence of notDurable) expect(sentence).toMatch(/^[A-Z].*\.$/);
    expect(needs.every((ways) => ways.some((way) => way.every((key) => asks.includes(key))))).toBe(
      true,
    );
    for (const { schema } of Object.values(options)) {
      expect(schema.meta()?.title).toMatch(/^[A-Z]/);
      expect(schema.description).toMatch(/^\S.*\.$/);
    }
  });
});
