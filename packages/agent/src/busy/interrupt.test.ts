import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createCountingTool, say } from '../testing/tool-scene.ts';
import { openTurnScene, type SceneOptions, type TurnScene } from '../testing/turn-scene.ts';
import { OWNER_CHAT, PLACE } from '../testing/write-message.ts';

let scene: TurnScene;
afterEach(() => scene.close());

async function open(extras: SceneOptions = {}): Promise<void> {
  scene = await openTurnScene({}, { busy: 'interrupt', ...extras });
}

/** Stores a message and then announces it, as ingress does. */
async function write(...args: Parameters<TurnScene['write']>): Promise<void> {
  await scene.write(...args);
  scene.bus.publish({ type: 'message-waiting', conversationId: OWNER_CHAT });
}

async function stories() {
  const told = await scene.store.decisions.stories({ ...PLACE, chatId: OWNER_CHAT }, 20);
  return told.map(({ outcome, interruptions = 0, turn }) => [
    outcome,
    interruptions,
    turn?.outcome ?? null,
  ]);
}

/** Starts a turn with a slow model and writes a message while it runs. */
async function runInterrupted(text = 'rather a poem'): Promise<void> {
  scene.model.next({ say: 'A long story.', afterMs: 5_000 });
  const started = await scene.begin();
  const running = scene.run(started);
  await sleep(20);
  await write(text);
  await running;
  await scene.store.lanes.release(started.lease);
}

const lastAsked = () => scene.model.asked.at(-1)?.messages.at(-1)?.content ?? '';

describe('a message that interrupts the running turn', () => {
  it('[D03] is answered once, together with the question of the interrupted turn, and without a stop notice', async () => {
    await open();
    await scene.write('a story');
    await runInterrupted();
    expect(scene.outcome()).toBe('interrupted');
    expect(await scene.owed()).toEqual([]);
    expect(await stories()).toEqual([
      ['waiting', 1, null],
      ['waiting', 0, null],
    ]);
    scene.model.next({ say: 'A poem.' });
    await scene.answerNext();
    expect(lastAsked()).toMatch(/a story\n\nrather a poem$/);
    expect(await scene.owed()).toEqual(['A poem.']);
    expect(await stories()).toEqual([
      ['turn', 1, 'answered'],
      ['turn', 0, 'answered'],
    ]);
  });

  it('[G17] leaves the interrupted turn’s usage charged to the account', async () => {
    await open();
    await scene.write('a story');
    await runInterrupted();
    const { total } = await scene.store.spend.of({
      day: '2026-11-21',
      personId: 'test:1',
      groupId: null,
    });
    expect(total.tokens).toBeGreaterThan(0);
  });

  it('[D03] interrupts the turn even while a tool reads', async () => {
    const parrot = createCountingTool('parrot', 'read', async () => {
      if (parrot.calls.length === 1) await write('rather this');
      await sleep(20);
    });
    await open({ tools: [parrot.tool] });
    await scene.write('that');
    scene.model.next({ calls: [say('parrot', 'a')] });
    const started = await scene.begin();
    await scene.run(started);
    expect(scene.outcome()).toBe('interrupted');
    await scene.store.lanes.release(started.lease);
    await scene.answerNext();
    expect(lastAsked()).toMatch(/that\n\nrather this$/);
    expect(await scene.owed()).toEqual(['fine']);
  });

  it('[G16] [D03] joins the turn instead if the turn has already changed something, so that no action is repeated', async () => {
    const crow = createCountingTool('crow', 'external', () => write('and then?'));
    await open({ tools: [crow.tool] });
    await scene.write('do it');
    scene.model.next({ calls: [say('crow', 'a')] }, { say: 'Done, and then that.' });
    await scene.answerNext();
    expect(crow.calls).toHaveLength(1);
    expect(lastAsked()).toContain('and then?');
    expect(await scene.owed()).toEqual(['Done, and then that.']);
    expect(await stories()).toEqual([
      ['turn', 0, 'answered'],
      ['turn', 0, 'answered'],
    ]);
  });

  it('[D03] interrupts at most three times in a row; then the turn completes despite further messages', async () => {
    await open();
    await scene.write('0');
    for (const nth of ['1', '2', '3']) await runInterrupted(nth);
    scene.model.next({ say: 'At last.', afterMs: 500 });
    const started = await scene.begin();
    const running = scene.run(started);
    await sleep(20);
    await write('4');
    await running;
    expect(await scene.owed()).toEqual(['At last.']);
    expect(await stories()).toEqual([
      ['turn', 3, 'answered'],
      ['turn', 2, 'answered'],
      ['turn', 1, 'answered'],
      ['turn', 0, 'answered'],
      ['waiting', 0, null],
    ]);
  });

  it('[D03] waits if its live event is lost', async () => {
    await open();
    await scene.write('one');
    scene.model.next({ say: 'One.', afterMs: 500 });
    const running = scene.run(await scene.begin());
    await sleep(20);
    await scene.write('two');
    await running;
    expect(await scene.owed()).toEqual(['One.']);
    expect(await stories()).toEqual([
      ['turn', 0, 'answered'],
      ['waiting', 0, null],
    ]);
  });

  it('[D03] interrupts the turn even if the message arrived before the turn subscribed to live events', async () => {
    await open();
    await scene.write('one');
    const started = await scene.begin();
    await scene.write('two');
    scene.model.next({ say: 'One.', afterMs: 5_000 });
    await scene.run(started);
    expect(scene.outcome()).toBe('interrupted');
  });

  it('[G05] does not answer a question meant for the approver, but waits', async () => {
    const asks = { ...createCountingTool('crow', 'external').tool, approval: 'ask' as const };
    await open({ tools: [asks] });
    await scene.write('do it');
    scene.model.next({ calls: [say('crow', 'a')] });
    const started = await scene.begin();
    await scene.run(started);
    expect(scene.outcome()).toBe('suspended');
    await write('hello?');
    const found = await scene.store.lanes.interrupt(started.lease, started.turn.turnId, 0);
    expect(found).toEqual({ kind: 'goes-on' });
    expect((await stories()).map(([outcome]) => outcome)).toEqual(['turn', 'waiting']);
  });

  it('[D03] does not interrupt while more messages of its burst may follow', async () => {
    await open();
    await scene.write('one');
    scene.model.next({ say: 'One.', afterMs: 5_000 });
    const running = scene.run(await scene.begin());
    await sleep(20);
    await write('piece', { settlesInMs: 50 });
    await sleep(20);
    expect(scene.outcome()).toBeUndefined();
    scene.later(60);
    await running;
    expect(scene.outcome()).toBe('interrupted');
  });

  it.each(['before', 'after'] as const)(
    '[D03] is neither lost nor duplicated if the database fails %s the message has ended the turn',
    async (when) => {
      await open();
      await scene.write('one');
      const { lanes } = scene.store;
      Object.assign(scene.store, {
        lanes: {
          ...lanes,
          async interrupt(...args: Parameters<typeof lanes.interrupt>) {
            if (when === 'after') await lanes.interrupt(...args);
            throw new Error('the connection is gone');
          },
        },
      });
      scene.model.next({ say: 'One.', afterMs: 500 }, { say: 'Both.' });
      const started = await scene.begin();
      const running = scene.run(started);
      await sleep(20);
      await write('two');
      await running;
      await lanes.release(started.lease);
      expect(await scene.owed()).toEqual(when === 'before' ? ['One.'] : []);
      await scene.answerNext();
      expect(await scene.owed()).toEqual(when === 'before' ? ['One.', 'Both.'] : ['Both.']);
      expect((await stories()).map(([outcome]) => outcome)).toEqual(['turn', 'turn']);
    },
  );
});
