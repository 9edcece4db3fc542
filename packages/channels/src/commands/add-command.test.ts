import { CAPABILITIES } from '@parley/core/testing';
import type { CommandTransaction, InboxRepository } from '@parley/store';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMessage, IngressScene } from '../testing/ingress-scene.ts';
import { type CommandServices, defineChatCommand } from './command.ts';
import { CHAT_COMMANDS, listMenu, RESERVED_COMMANDS } from './list.ts';

let scene: IngressScene;
beforeEach(async () => {
  scene = new IngressScene();
  await scene.open();
});
afterEach(() => scene.store.close());

describe('a command defined by one file and an entry in the list', () => {
  const happened: string[] = [];
  const dice = defineChatCommand({
    name: 'dice',
    aliases: ['roll'],
    summary: 'roll a die and go into a mode by it',
    takes: '[sides]',
    rest: 'argument',
    who: 'owner',
    where: 'direct',
    async prepare({ argument }, { newCode }) {
      happened.push('prepare');
      return { sides: Number(argument || 6), code: newCode() };
    },
    async run({ conversationId }, transaction, { sides, code }) {
      happened.push('run');
      const { now } = await transaction.changeMode('plan');
      return {
        answer: `${sides} sides, ${code}, ${now}`,
        wake: [conversationId],
        stop: ['lane of a guest'],
        settled: true,
      };
    },
  });
  const commands = [...CHAT_COMMANDS, dice];
  const write = (text: string, change: Parameters<typeof createMessage>[0] = {}) =>
    scene.ingressWith({}, { commands })(createMessage({ text, ...change }), CAPABILITIES);
  beforeEach(() => void happened.splice(0));

  it.each(['/dice 20', '/Roll 20.', '`/dice 20`', '／dice 20'])(
    '[F09] is parsed as %j, and its effect and answer are stored',
    async (text) => {
      expect(await write(text)).toEqual({ kind: 'command', name: 'dice', settled: true });
      expect(await scene.told()).toEqual(['20 sides, AAAA2222, plan']);
      expect(happened).toEqual(['prepare', 'run']);
      expect(scene.happened).toEqual([
        'received',
        'inbox-committed',
        'stop-turn',
        'wake telegram:default:42',
        'deliver 42',
      ]);
    },
  );

  it('[F08] [F09] runs once, even when its message is redelivered', async () => {
    await write('/dice', { messageId: 'm1' });
    scene.happened.splice(0);
    expect(await write('/dice', { messageId: 'm1' })).toEqual({ kind: 'duplicate' });
    expect(happened.filter((what) => what === 'run')).toHaveLength(1);
    expect(scene.happened).toEqual(['received', 'inbox-committed', 'deliver 42']);
  });

  it('[F09] is declined without being prepared where its file forbids it', async () => {
    const group = { id: '-5', type: 'group' } as const;
    const guest = { chat: group, sender: { id: '9' }, addressed: true, messageId: 'g' };
    const declined = '/dice is for my owner only.';
    expect(await write('/dice', guest)).toEqual({ kind: 'command', name: 'dice', declined });
    expect(await write('/dice', { chat: group, addressed: true })).toMatchObject({
      declined: expect.stringContaining('in a direct chat'),
    });
    expect(happened).toEqual([]);
  });

  it("[F09] is listed in /help and in the platforms' menus", async () => {
    await write('/help');
    expect((await scene.told()).join()).toContain('/dice [sides] – roll a die');
    expect(listMenu(commands).at(-1)).toEqual({
      name: 'dice',
      summary: 'roll a die and go into a mode by it',
      takes: '[sides]',
    });
  });
});

/** A service that resolves only after other work of the process has run. */
const slowly = async (words: string): Promise<string> => {
  await new Promise((resolve) => setImmediate(resolve));
  return words;
};
const SERVICES: CommandServices = {
  memory: (_asker, argument) => slowly(`memory ${argument}`),
  forget: (_asker, argument) => slowly(`forgot ${argument}`),
  soul: () => slowly('soul'),
  heartbeat: () => slowly('heartbeat'),
  zone: () => slowly('zone'),
  statusLine: () => slowly('line'),
};

/** Wraps the inbox and counts how often other work ran during a command's transaction. */
function watched(inbox: InboxRepository) {
  const turns: number[] = [];
  const command = <T>(
    admitted: Parameters<InboxRepository['command']>[0],
    run: (transaction: CommandTransaction) => Promise<T>,
  ) =>
    inbox.command(admitted, async (transaction) => {
      let count = 0;
      let isOver = false;
      const count1 = () => {
        if (isOver) return;
        count += 1;
        setImmediate(count1);
      };
      setImmediate(count1);
      const done = await run(transaction);
      isOver = true;
      turns.push(count);
      return done;
    });
  return { turns, inbox: { ...inbox, command } };
}

describe('a command’s transaction', () => {
  // A statement on SQLite completes without the event loop; any other `await` needs it.
  it.each(RESERVED_COMMANDS.filter((name) => name !== 'compact'))(
    '[D03] awaits only database statements: /%s',
    async (name) => {
      const { turns, inbox } = watched(scene.store.inbox);
      const receive = scene.ingressWith(
        {},
        {
          store: { ...scene.store, inbox },
          commandServices: () => SERVICES,
          skillCommands: async () => [{ name: 'sing', summary: await slowly('Sings.') }],
        },
      );
      for (const [nth, words] of ['', ' ABC234', ' last', ' large'].entries()) {
        const message = createMessage({ messageId: `m${nth}`, text: `/${name}${words}` });
        expect(await receive(message, CAPABILITIES)).toMatchObject({ kind: 'command' });
      }
      expect(turns).toEqual([0, 0, 0, 0]);
    },
  );
});
