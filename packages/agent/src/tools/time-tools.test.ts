import type { CronRequest, CronRequester } from '@parley/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openToolScene, type ToolScene } from '../testing/tool-scene.ts';
import { openTurnScene, type TurnScene } from '../testing/turn-scene.ts';
import { PLACE } from '../testing/write-message.ts';
import { createCronTool, currentTimeTool } from './time-tools.ts';

let scene: TurnScene;
let orders: (readonly [CronRequest, CronRequester])[];
afterEach(() => scene?.close());

async function open(delegates = false): Promise<void> {
  orders = [];
  const tool = createCronTool({
    store: {
      get inbox() {
        return scene.store.inbox;
      },
    },
    ask: async (order, asker) => {
      orders.push([order, asker]);
      return order.action === 'pause' ? { ok: false, text: 'No.' } : { ok: true, text: 'Done.' };
    },
  });
  scene = await openTurnScene({}, { tools: [tool], delegates });
}

const uses = (input: object) => ({ calls: [{ name: 'cron', with: input }] });
const result = () => JSON.stringify(scene.model.asked.at(-1)?.messages.at(-1)?.content ?? '');

/** Runs a job's turn, in the owner’s chat. */
async function due(id: string): Promise<void> {
  const target = { dialect: 'plain', maxLength: 200, unit: 'utf16' } as const;
  await scene.store.inbox.accept({
    conversationId: 'c',
    route: { ...PLACE, chatId: 'c', target },
    receivedAt: 1,
    fromOwner: true,
    message: {
      ...PLACE,
      messageId: id,
      chat: { id: 'c', type: 'direct' },
      sender: { id: '1', name: 'Ada', isBot: false },
      text: '⚙️ The time of a job has come.',
      mentions: [],
      addressed: true,
      sentAt: 1,
      variables: {},
      trigger: 'cron',
    },
  });
}

describe('the cron tool', () => {
  it('[H08] adds a job with the person’s message, its route and the id of the call', async () => {
    await open();
    await scene.write('remind me at six');
    scene.model.next(uses({ action: 'add', task: 'call Bo', at: '18:00' }), { say: 'I will.' });
    await scene.answerNext();
    expect(orders).toHaveLength(1);
    expect(orders[0]).toMatchObject([
      {
        action: 'add',
        askedBy: expect.stringMatching(/^call:turn-/),
        origin: { text: 'remind me at six', chat: { id: 'c' } },
        route: { chatId: 'c' },
        fields: { task: 'call Bo', at: '18:00' },
      },
      { kind: 'chat', reader: { kind: 'owner', conversationId: 'c' } },
    ]);
  });

  it.each([
    [{ action: 'pause', id: 'K7PQX' }, 'No.'],
    [{ action: 'remove' }, 'which job you mean'],
    [{ action: 'list' }, 'Done.'],
    [{ action: 'change', id: 'K7PQX', at: '19:00' }, 'Done.'],
  ])('[H08] answers the call %j', async (input, words) => {
    await open();
    await scene.write('my jobs');
    scene.model.next(uses(input));
    await scene.answerNext();
    expect(result()).toContain(words);
  });

  it('[H08] does not add or change jobs in a job’s own turn, which no person requested', async () => {
    await open();
    for (const [at, input] of [
      { action: 'add', task: 'x', at: '18:00' },
      { action: 'remove', id: 'A' },
    ].entries()) {
      await due(`cron:${at}`);
      scene.model.next(uses(input));
      await scene.answerNext();
      expect(result()).toContain('only what a person has just written');
    }
    expect(orders).toEqual([]);
    await due('cron:9');
    await scene.write('and remind me at six');
    scene.model.next(uses({ action: 'add', task: 'x', at: '18:00' }));
    await scene.answerNext();
    expect(orders).toMatchObject([[{ origin: { text: 'and remind me at six' } }, {}]]);
  });

  it('[H08] [G07] is not offered to sub-agents', async () => {
    await open(true);
    await scene.write('hand it on');
    const task = { title: 't', task: 'plan' };
    scene.model.next({ calls: [{ name: 'delegate_task', with: task }] });
    await scene.answerNext();
    const lane = scene.woken.find((woken) => woken.startsWith('sub'));
    await scene.answerNext(lane);
    const names = scene.model.asked.at(-1)?.tools?.map(({ name }) => name) ?? [];
    expect(names).toContain('delegate_task');
    expect(names).not.toContain('cron');
  });
});

describe('current_time', () => {
  let scene: ToolScene;
  beforeEach(async () => {
    scene = await openToolScene();
  });
  afterEach(() => scene.close());

  it.each([
    [{}, 'It is Saturday 21 November 2026 at 14:05 (Europe/Berlin).'],
    [{ timeZone: 'Asia/Tokyo' }, 'It is Saturday 21 November 2026 at 22:05 (Asia/Tokyo).'],
  ])('[G02] returns the time for %o', async (input, expected) => {
    const { text } = await scene.use(currentTimeTool, input);
    expect(text.replace(',', '')).toBe(expected);
  });

  it('[G02] explains how to name a time zone', async () => {
    const outcome = await scene.use(currentTimeTool, { timeZone: 'Berlin' });
    expect(outcome).toMatchObject({ failed: true, text: expect.stringContaining('IANA') });
  });
});
