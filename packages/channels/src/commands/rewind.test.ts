import { CAPABILITIES } from '@parley/core/testing';
import type { Lease } from '@parley/store';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMessage, IngressScene } from '../testing/ingress-scene.ts';
import type { CommandServices, ServiceCommandSender } from './command.ts';
import { parseRewindPoint } from './rewind.ts';

const LANE = 'telegram:default:42';
const GROUP = { id: '-5', type: 'group', title: 'Team' } as const;

let scene: IngressScene;
beforeEach(async () => {
  scene = new IngressScene();
  await scene.open();
});
afterEach(() => scene.store.close());

type Written = Parameters<typeof createMessage>[0];

function write(text: string, change: Written = {}, services: CommandServices = {}) {
  const messageId = `m ${text}`;
  return scene.ingressWith({}, { commandServices: () => services })(
    createMessage({ messageId, text, ...change }),
    CAPABILITIES,
  );
}

/** Starts the turn that answers the newest message. */
async function begin(turnId: string, conversationId = LANE): Promise<Lease> {
  const work = { conversationId, owner: 'w', leaseMs: 10_000 };
  const started = await scene.store.lanes.begin(work, 'collect', turnId, scene.now);
  if (started.kind !== 'turn') throw new Error(`no turn: ${started.kind}`);
  return started.lease;
}

/** Asks and answers a question; the tool `tool` is called for it. */
async function exchange(text: string, tool?: string, change: Written = {}): Promise<void> {
  await write(text, change);
  const turnId = `turn ${text}`;
  const lease = await begin(turnId, change.chat === undefined ? LANE : 'telegram:default:-5');
  if (tool !== undefined) {
    const call = { name: tool, arguments: JSON.stringify({ path: 'notes/*x*.md' }) };
    const content = { kind: 'model', calls: [call] };
    await scene.store.turns.appendStep(lease, turnId, { index: 0, content }, scene.now);
    const facts = {
      kind: 'tool',
      tool,
      outcome: 'done',
      call: `${turnId}.0.0`,
      effect: 'write',
    } as const;
    const timing = { startedAt: scene.now, facts };
    await scene.store.turns.appendStep(lease, turnId, { index: 1, content: {}, timing }, scene.now);
  }
  const entries = [
    { role: 'user', content: { text } },
    { role: 'assistant', content: { text: `re ${text}` } },
  ] as const;
  const commit = { turnId, outcome: 'answered', entries, parts: [], usage: null } as const;
  await scene.store.lanes.commit(lease, commit, scene.now);
  await scene.store.lanes.release(lease);
  scene.now += 1_000;
}

const history = async () =>
  (await scene.store.transcript.recent(LANE, 0, 99)).map(({ content }) => Object(content).text);
const newest = async (chatId?: string) => (await scene.told(chatId)).at(-1);

describe('/rewind', () => {
  it('[G23] takes back the last exchange and says what it did not undo', async () => {
    await exchange('first');
    await exchange('second', 'write');
    expect(await write('/rewind')).toEqual({ kind: 'command', name: 'rewind' });
    expect(await history()).toEqual(['first', 're first']);
    expect((await newest())?.split('\n').filter((line) => line !== '')).toEqual([
      'Taken back: I no longer see this, but it stays readable.',
      '• “second”',
      'This was done meanwhile and is not undone:',
      '• write notes/*x*.md',
    ]);
  });

  it('[G23] offers to forget what was saved from the messages, and nothing else', async () => {
    const asked: ServiceCommandSender[] = [];
    const saved = (id: string, message: string, chat = '42') => {
      return { id, text: `text of ${id}`, channel: 'telegram', chat, message };
    };
    const savedMemories = async (asker: ServiceCommandSender) => {
      asked.push(asker);
      return [saved('a1', 'm first'), saved('b2', 'm second'), saved('c3', 'm second', '-5')];
    };
    await exchange('first');
    await exchange('second', 'save_memory');
    await write('/rewind', {}, { savedMemories });
    expect(await newest()).toContain('• “text of b2”: /forget b2');
    expect(await newest()).not.toMatch(/a1|c3|save_memory/);
    const parts = await scene.store.outbox.recent(
      { channel: 'telegram', account: 'default', chatId: '42' },
      1,
    );
    expect(parts[0]?.part.buttons).toEqual([{ label: 'Forget “text of b2”', data: '/forget b2' }]);
    expect(asked).toMatchObject([{ person: 'telegram:42', reader: { kind: 'owner' } }]);
  });

  it('[G23] stops a running turn before it takes it back', async () => {
    await exchange('first');
    await write('second');
    await begin('turn second');
    scene.happened.splice(0);
    await write('/rewind');
    expect(scene.happened).toContain('stop-turn');
    expect(await newest()).toMatch(/^Stopped\.\s+Taken back/);
    expect(await history()).toEqual(['first', 're first']);
  });

  it('[G23] goes back to a quoted message, and says so if it is unknown', async () => {
    for (const text of ['first', 'second', 'third']) await exchange(text);
    await write('/rewind', { replyTo: { messageId: 'm second' } });
    expect(await history()).toEqual(['first', 're first']);
    await write('/rewind.', { messageId: 'again', replyTo: { messageId: 'm third' } });
    expect(await newest()).toContain('I do not see that message any more');
    await write('/rewind please', {});
    expect(await newest()).toContain('quote a message with /rewind');
    await write('/rewind 9', {});
    await write('/rewind 8', {});
    expect(await newest()).toBe('There is nothing to take back in this session.');
  });

  it('[G23] [F05] in a group is for those who may change the conversation', async () => {
    const chat = { chat: GROUP, addressed: true };
    await exchange('first', undefined, { ...chat, sender: { id: '7' } });
    const guest = await write('/rewind', { ...chat, sender: { id: '8' }, messageId: 'g' });
    expect(guest).toMatchObject({ declined: expect.stringContaining('administrators') });
    expect(await write('/rewind', { ...chat, messageId: 'h' })).not.toHaveProperty('declined');
    expect(await newest('-5')).toContain('“first”');
  });

  it.each([
    ['', 1],
    ['3', 3],
    ['50', 50],
    ['51', null],
    ['0', null],
    ['-1', null],
    ['two', null],
    ['1 2', null],
  ])('[G23] reads %j as %j exchanges', (argument, count) => {
    const point = parseRewindPoint(argument, createMessage());
    expect(point).toEqual(count === null ? null : { kind: 'exchanges', count });
  });
});

describe('/branch', () => {
  it('[G23] is for owners, and asks the service for the quoted point once', async () => {
    const points: unknown[] = [];
    const branch: CommandServices['branch'] = async (asker, point) => {
      points.push([asker.reader.conversationId, point]);
      return 'opened';
    };
    await write('/branch', { replyTo: { messageId: 'm1' } }, { branch });
    expect(await newest()).toBe('opened');
    await write('/branch', { messageId: 'b2' }, { branch });
    const chat = { channel: 'telegram', account: 'default', chatId: '42' };
    expect(points).toEqual([
      [LANE, { kind: 'quoted', chat, messageId: 'm1' }],
      [LANE, null],
    ]);
    await write('/branch', { messageId: 'b3' });
    expect(await newest()).toBe('Branches are not available here.');
    const guest = { chat: GROUP, sender: { id: '8' }, addressed: true };
    expect(await write('/branch', guest, { branch })).toMatchObject({
      declined: '/branch is for my owner only.',
    });
  });
});
