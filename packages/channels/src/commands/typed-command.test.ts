import { CAPABILITIES, toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseTypedCode } from '../ingress/one-time-code.ts';
import { createMessage, IngressScene } from '../testing/ingress-scene.ts';
import { RESERVED_COMMANDS } from './list.ts';
import { describeUnusedInput, parseCommand, splitCommand } from './typed-command.ts';

const LANE = 'telegram:default:42';

describe('the text after a command', () => {
  it("[F09] is split into the command's argument, the message after it, and a part reported as ignored", () => {
    const name = fc.constantFrom(...RESERVED_COMMANDS);
    const word = fc.stringMatching(/^[a-zA-Z0-9äж]{1,9}[.,!?]?$/);
    const words = fc.array(word, { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(name, words, fc.constantFrom(' ', '\n', '. ', ': '), (command, rest, between) => {
        const typed = parseCommand(`/${command}${between}${rest.join(' ')}`);
        if (typed === null) throw new Error(`/${command} is no command`);
        const { argument, onward, unused } = splitCommand(typed);
        const parts = `${argument} ${onward} ${unused}`.toLowerCase();
        for (const each of rest) {
          // Spaces within a code are ignored.
          const plain = each.toLowerCase().replace(/[.,!?]/g, '');
          expect(parts.replaceAll(/[\s.,!?]/g, '')).toContain(plain);
        }
        if (unused !== '')
          expect(describeUnusedInput(typed.command, { unused }, {})).toContain('did not read');
      }),
      toRunOptions(300),
    );
  });

  it('[G05] match a code regardless of case, width, spaces, quotes or a full stop', () => {
    const sign = fc.constantFrom(...'ABCDEFGHJKLMNPQRSTUVWXYZ23456789');
    const around = fc.constantFrom(
      ['', ''],
      ['"', '".'],
      ['(', ')'],
      ['<', '>'],
      ['[', ']!'],
      ['«', '»'],
    );
    const way = fc.constantFrom(
      (code: string) => code.toLowerCase(),
      (code: string) => `${code.slice(0, 3)} ${code.slice(3)}`,
      (code: string) => `${code.slice(0, 2)}–${code.slice(2)}`,
      (code: string) =>
        code.replace(/./g, (one) => String.fromCharCode(one.charCodeAt(0) + 0xfee0)),
    );
    fc.assert(
      fc.property(
        fc.array(sign, { minLength: 6, maxLength: 6 }),
        around,
        way,
        (signs, pair, as) => {
          const code = signs.join('');
          expect(parseTypedCode(`${pair[0]}${as(code)}${pair[1]}`, 6)).toBe(code);
        },
      ),
    );
  });
});

describe('a message after a command', () => {
  let scene: IngressScene;
  beforeEach(async () => {
    scene = new IngressScene();
    await scene.open();
  });
  afterEach(() => scene.store.close());

  it('[F08] [F09] is queued once, even when redelivered, and wakes its conversation', async () => {
    const message = createMessage({ messageId: 'm1', text: '/new plan a picnic' });
    expect(await scene.receive(message)).toEqual({ kind: 'command', name: 'new', continues: true });
    expect(scene.happened).toContain(`wake ${LANE}`);
    expect(await scene.receive(message)).toEqual({ kind: 'duplicate' });
    expect(await scene.inbox()).toEqual(['plan a picnic']);
    expect(await scene.store.inbox.waiting(LANE)).toBe(1);
  });

  it('[D07] is refused with a notice when the queue is full, and the command still runs', async () => {
    for (const id of ['a', 'b', 'c'])
      await scene.receive(createMessage({ messageId: id, text: 'hi' }));
    const more = createMessage({ messageId: 'm1', text: '/new plan a picnic' });
    expect(await scene.receive(more)).toEqual({ kind: 'command', name: 'new' });
    const told = (await scene.told()).at(-1);
    expect(told).toContain('A fresh start');
    expect(told).toContain(
      'I did not take the message after /new: too many messages are waiting already',
    );
    expect(await scene.store.inbox.waiting(LANE)).toBe(3);
  });

  it('[D07] is refused together with its command when it is too long, and the command has no effect', async () => {
    const long = createMessage({ messageId: 'm1', text: `/new ${'word '.repeat(20)}` });
    expect(await scene.receive(long)).toMatchObject({ kind: 'refused', bound: 'size' });
    expect((await scene.told()).join()).not.toContain('A fresh start');
  });

  it('[F05] is refused with a notice when the person lacks the right', async () => {
    const group = { id: '-5', type: 'group', title: 'Team' } as const;
    const guest = { messageId: 'm1', text: '/new plan it', chat: group, sender: { id: '9' } };
    await scene.receive(createMessage({ ...guest, addressed: true }));
    const told = (await scene.told('-5')).at(-1);
    expect(told).toContain('/new changes this conversation');
    expect(told).toContain('the command was not run');
    expect(await scene.store.inbox.waiting('telegram:default:-5')).toBe(0);
  });

  it('[G02] does not answer a pending question, because it is a separate request', async () => {
    await scene.receive(createMessage({ messageId: 'm1', text: '/new plan a picnic' }));
    const [row] = await scene.store.inbox.recent(
      { channel: 'telegram', account: 'default', chatId: '42' },
      1,
    );
    expect(row?.message).toMatchObject({ text: 'plan a picnic', typed: '/new plan a picnic' });
  });

  it('[H08] /zone is answered by the jobs service, only for the owner', async () => {
    const services = { zone: async (_asker: unknown, words: string) => `zone: ${words}` };
    const receive = scene.ingressWith({}, { commandServices: () => services });
    await receive(createMessage({ messageId: 'z', text: '/zone move' }), CAPABILITIES);
    expect((await scene.told()).at(-1)).toBe('zone: move');
  });
});
