import type { Reader } from '@parley/core';
import { ModelError, type ModelFailure } from '@parley/models';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTurnScene, type TurnScene } from '../testing/turn-scene.ts';
import { describeModelFailure } from './answer-turn.ts';

const GROUP = { id: '-9', type: 'group', title: 'Team' } as const;

let scene: TurnScene;
beforeEach(async () => {
  scene = await openTurnScene();
});
afterEach(() => scene.close());

const totals = () => scene.store.turns.totals(0);

describe('a turn', () => {
  it('[D04] commits transcript, parts and usage, then wakes delivery', async () => {
    await scene.write('hello');
    scene.model.next({ say: 'Hello **Ada**' });
    await scene.answerNext();
    expect(await scene.owed()).toEqual(['Hello Ada']);
    expect(await scene.store.transcript.recent('c', 0, 9)).toMatchObject([
      { role: 'user', content: { text: 'hello' } },
      { role: 'assistant', content: { text: 'Hello **Ada**' } },
    ]);
    expect(await totals()).toMatchObject({
      answered: 1,
      inputTokens: 10,
      outputTokens: 2,
      costUsd: 0.5,
    });
    expect(scene.woken).toEqual(['test/default/c']);
  });

  it('[F12] publishes its start, the streamed answer, and its end', async () => {
    await scene.write('hello');
    scene.model.next({ say: 'one two' });
    await scene.answerNext();
    expect(scene.events).toMatchObject([
      { type: 'turn-started', route: { chatId: 'c' } },
      { type: 'turn-delta', text: 'one' },
      { type: 'turn-delta', text: ' two' },
      { type: 'turn-ended', outcome: 'answered' },
    ]);
  });

  it('[D03] answers messages that arrived together with one answer', async () => {
    await scene.write('one');
    await scene.write('two');
    await scene.answerNext();
    expect(scene.model.asked[0]?.messages.at(-1)?.content).toContain('one\n\ntwo');
    expect(await scene.owed()).toEqual(['fine']);
  });

  it('[F09] also publishes which earlier commands its answer responds to', async () => {
    await scene.write('/skill', { response: 'place' });
    await scene.write('and this');
    await scene.answerNext();
    await scene.write('/skill', { response: 'other' });
    await scene.answerNext();
    const [first, second] = scene.events.filter(({ type }) => type === 'turn-started');
    expect(first).toMatchObject({ alsoAnswered: [{ response: 'place' }] });
    expect(second).not.toHaveProperty('alsoAnswered');
  });

  it('[F06] [P18] shows the model what the group said before the question, but only once', async () => {
    const place = { conversationId: '-9', channel: 'test', account: 'default', chatId: '-9' };
    const heard = { messageId: 'h', senderId: '7', senderName: 'Bo', text: 'pizza tonight?' };
    await scene.store.groupContext.keep(place, heard, 0);
    await scene.write('what was that?', { chat: GROUP });
    await scene.answerNext('-9');
    await scene.write('and now?', { chat: GROUP });
    await scene.answerNext('-9');
    const [first, second] = scene.model.asked;
    expect(first?.messages.at(-1)?.content).toMatch(/pizza tonight\?.*what was that\?/s);
    expect(JSON.stringify(first?.system)).not.toContain('pizza');
    expect(JSON.stringify(second)).not.toContain('pizza');
  });

  it('[F02] tells the model its name, the time and that it has no tools', async () => {
    await scene.write('hello');
    await scene.answerNext();
    const system = scene.model.asked[0]?.system.map(({ text }) => text).join('\n') ?? '';
    expect(system).toContain('Polly');
    expect(system).toContain('You have no tools in this chat');
    expect(system).toContain('Europe/Berlin');
  });

  it('[D04] splits a long answer into parts that the platform accepts', async () => {
    await scene.write('tell me more');
    scene.model.next({ say: 'word '.repeat(100) });
    await scene.answerNext();
    const parts = await scene.owed();
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.join(' ').match(/word/g)).toHaveLength(100);
  });

  it('[M06] lets other work proceed while a long answer is rendered', async () => {
    await scene.write('tell me everything');
    scene.model.next({ say: 'x'.repeat(40_000) });
    let others = 0;
    let other = setImmediate(function work() {
      others += 1;
      other = setImmediate(work);
    });
    await scene.answerNext();
    clearImmediate(other);
    // Each part in the scene holds 200 characters, so the answer has 200 parts.
    expect(others).toBeGreaterThan(200);
  });

  it('reports an answer without any visible text', async () => {
    await scene.write('hello');
    scene.model.next({ say: '```\n```' });
    await scene.answerNext();
    expect(await scene.owed()).toEqual([expect.stringContaining('nothing that can be shown')]);
    expect(await totals()).toMatchObject({ answered: 0, failed: 1 });
  });
});

describe('a turn whose model does not answer', () => {
  it('[G01] notifies the owner in plain language and logs the failure once', async () => {
    await scene.write('hello');
    scene.model.next({ fail: { kind: 'unreachable' } });
    await scene.answerNext();
    expect(await scene.owed()).toEqual(['⚙️ test/model at secret-host failed.']);
    expect(scene.logged).toEqual([expect.stringContaining('warn: turn failed')]);
    expect(scene.woken).toHaveLength(1);
    expect(await totals()).toMatchObject({ failed: 1 });
  });

  it('[G01] does not tell a group about servers', async () => {
    await scene.write('hello', { chat: GROUP });
    scene.model.next({ fail: { kind: 'unreachable' } });
    await scene.answerNext('-9');
    const [notice] = await scene.owed('-9');
    expect(notice).toMatch(/^⚙️ I could not get an answer/);
    expect(notice).not.toContain('secret-host');
  });

  it('stays in the history as a question that the next turn can answer', async () => {
    await scene.write('what is 2+2?');
    scene.model.next({ fail: { kind: 'overloaded' } });
    await scene.answerNext();
    await scene.write('and now?');
    await scene.answerNext();
    const { messages } = scene.model.asked[1] ?? { messages: [] };
    expect(messages.map(({ role }) => role)).toEqual(['user']);
    expect(messages[0]?.content.startsWith('what is 2+2?')).toBe(true);
    expect(messages[0]?.content.endsWith('and now?')).toBe(true);
  });
});

describe('an interrupted turn', () => {
  it('[F09] does not send an answer after /stop', async () => {
    await scene.write('hello');
    scene.model.next({ say: 'too late', afterMs: 60_000 });
    const stop = new AbortController();
    const running = scene.run(await scene.begin(), stop.signal);
    stop.abort('stopped');
    await running;
    expect(scene.outcome()).toBe('stopped');
    expect(await scene.owed()).toEqual([]);
  });

  it('[D02] does not commit anything once the lease is lost, even after receiving the answer', async () => {
    await scene.write('hello');
    const started = await scene.begin();
    await scene.store.lanes.releaseAll();
    await scene.run(started);
    expect(scene.outcome()).toBe('fenced');
    expect(await scene.owed()).toEqual([]);
    expect(await scene.store.transcript.recent('c', 0, 9)).toEqual([]);
    expect(scene.woken).toEqual([]);
  });

  it('[D11] is released at shutdown, and the next run answers once', async () => {
    await scene.write('hello');
    scene.model.next({ say: 'too late', afterMs: 60_000 });
    const stop = new AbortController();
    const started = await scene.begin();
    const running = scene.run(started, stop.signal);
    stop.abort('handed-back');
    await running;
    expect(scene.outcome()).toBe('handed-back');
    await scene.store.lanes.release(started.lease);
    const again = await scene.begin();
    expect(again.turn).toMatchObject({ resumed: true, turnId: started.turn.turnId });
    await scene.run(again);
    expect(await scene.owed()).toEqual(['fine']);
  });

  it('[D10] measures how long a message waits until its turn first starts, and not again when the turn resumes', async () => {
    const waits: number[] = [];
    const observe = (name: string, ms: number) => {
      if (name === 'parley_inbox_wait_seconds') waits.push(ms);
    };
    await scene.close();
    scene = await openTurnScene({}, { meter: { count() {}, observe } });
    await scene.write('hello');
    scene.later(2_000);
    scene.model.next({ say: 'too late', afterMs: 60_000 });
    const stop = new AbortController();
    const started = await scene.begin();
    const running = scene.run(started, stop.signal);
    stop.abort('handed-back');
    await running;
    await scene.store.lanes.release(started.lease);
    scene.later(60_000);
    await scene.answerNext();
    expect(await scene.owed()).toEqual(['fine']);
    expect(waits).toEqual([2_000]);
    await scene.write('hello again');
    scene.later(500);
    await scene.answerNext();
    expect(waits).toEqual([2_000, 500]);
  });

  it('[G16] stores answer, usage and journal together; if they were not stored, the model is asked again', async () => {
    await scene.write('hello');
    scene.model.next({ say: 'the first answer' }, { say: 'the second answer' });
    const { lanes } = scene.store;
    const started = await scene.begin();
    Object.assign(scene.store, {
      lanes: { ...lanes, commit: () => Promise.reject(new Error('killed')) },
    });
    await expect(scene.run(started)).rejects.toThrow('killed');
    Object.assign(scene.store, { lanes });
    await lanes.release(started.lease);
    await scene.answerNext();
    expect(await scene.owed()).toEqual(['the second answer']);
    expect(scene.model.asked).toHaveLength(2);
    expect(await totals()).toMatchObject({ answered: 1 });
  });

  it('[G16] uses an answer that an earlier version journaled, without asking the model', async () => {
    await scene.write('hello');
    const started = await scene.begin();
    const usage = { model: 'm', inputTokens: 1, outputTokens: 1, costUsd: null };
    const content = { kind: 'answer', text: 'the first answer', usage };
    const step = { index: 0, content };
    await scene.store.turns.appendStep(started.lease, started.turn.turnId, step, 1);
    await scene.store.lanes.release(started.lease);
    await scene.answerNext();
    expect(await scene.owed()).toEqual(['the first answer']);
    expect(scene.model.asked).toHaveLength(0);
  });

  it('throws an error that is not a model failure, and stays unfinished', async () => {
    await scene.write('hello');
    scene.model.next({ throws: new TypeError('a defect') });
    await expect(scene.answerNext()).rejects.toThrow('a defect');
    expect(scene.outcome()).toBe('handed-back');
    scene.later(10_000);
    expect(await scene.store.lanes.withWork(9, 10_000)).toEqual(['c']);
  });

  it('is abandoned after five attempts, and the person is notified', async () => {
    await scene.write('hello');
    scene.model.next(...Array.from({ length: 5 }, () => ({ throws: new TypeError('a defect') })));
    for (let attempt = 0; attempt < 5; attempt += 1) {
      await expect(scene.answerNext()).rejects.toThrow('a defect');
    }
    await scene.answerNext();
    expect(scene.model.asked).toHaveLength(5);
    expect(await scene.owed()).toEqual([expect.stringContaining('I have given up on it')]);
    expect(await totals()).toMatchObject({ failed: 1 });
  });

  it('[P18] [G08] shows its notice as Parley’s own text in the next turn only', async () => {
    await scene.write('hello');
    scene.model.next({ fail: { kind: 'filtered' } });
    await scene.answerNext();
    const notice = (await scene.owed()).at(-1)?.replace('⚙️ ', '') ?? '';
    for (const times of [1, 0]) {
      await scene.write('what was that?');
      await scene.answerNext();
      const { system, messages = [] } = scene.model.asked.at(-1) ?? {};
      const now = String(messages.at(-1)?.content);
      expect(now.split(`sent: {"what":"notice","text":${JSON.stringify(notice)}}`)).toHaveLength(
        times + 1,
      );
      expect(JSON.stringify([system, messages.slice(0, -1)])).not.toContain(notice);
    }
  });

  it('[P18] [W02] does not show this chat’s turns a notice that was sent to another chat', async () => {
    await scene.write('hello', { answersIn: 'g' });
    scene.model.next({ fail: { kind: 'filtered' } });
    await scene.answerNext();
    expect(await scene.owed('g')).toHaveLength(1);
    await scene.write('hm?');
    await scene.answerNext();
    expect(JSON.stringify(scene.model.asked.at(-1))).not.toContain('own-messages>');
  });
});

describe('the history that the model sees', () => {
  it('[W02] contains only this conversation, starting after /new', async () => {
    await scene.write('from another chat', { chat: { id: 'other', type: 'direct' } });
    await scene.answerNext('other');
    await scene.write('before');
    await scene.answerNext();
    await scene.store.inbox.command({ ...(await admittedLike()), receivedAt: 0 }, (command) =>
      command.startSession(),
    );
    await scene.write('after');
    await scene.answerNext();
    const seen = JSON.stringify(scene.model.asked.at(-1)?.messages);
    expect(seen).toContain('after');
    expect(seen).not.toContain('before');
    expect(seen).not.toContain('from another chat');
  });

  async function admittedLike() {
    const [row] = await scene.store.inbox.recent(
      { channel: 'test', account: 'default', chatId: 'c' },
      1,
    );
    if (row === undefined) throw new Error('nothing was written');
    const { conversationId, message, route } = row;
    return { conversationId, message: { ...message, messageId: 'new-1', text: '/new' }, route };
  }
});

const owner: Reader = { kind: 'owner', conversationId: 'c' };
const guest: Reader = { kind: 'guest', conversationId: 'c' };
const FAILURES: readonly ModelFailure[] = [
  { kind: 'unreachable' },
  { kind: 'unauthorised' },
  { kind: 'rate-limited', retryAfterMs: 5 },
  { kind: 'too-long' },
  { kind: 'filtered' },
  { kind: 'rubbish' },
  { kind: 'timeout', phase: 'total' },
];
const errorOf = (failure: ModelFailure) =>
  new ModelError(failure, 'openai/gpt', 'openai/gpt at 10.0.0.7 failed. Check apiKey.');

describe('the notice to a person when the model fails', () => {
  it.each(FAILURES)('contains all useful details for an owner: $kind', (failure) => {
    expect(describeModelFailure(errorOf(failure), owner)).toContain('10.0.0.7');
  });

  it.each(FAILURES)('does not name a server, model or key to other people: $kind', (failure) => {
    expect(describeModelFailure(errorOf(failure), guest)).not.toMatch(
      /10\.0|openai|apiKey|settings/,
    );
  });

  it('tells guests what they can do themselves', () => {
    expect(describeModelFailure(errorOf({ kind: 'too-long' }), guest)).toContain('/new');
    expect(describeModelFailure(errorOf({ kind: 'filtered' }), guest)).toContain('other words');
  });
});
