import type { MessageTrace, TurnTrace } from '@parley/store';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMessage, IngressScene, OWNER_CHAT } from '../testing/ingress-scene.ts';
import { describeStories } from './why.ts';

const NOW = 1_000_000;
const TAKEN: MessageTrace = {
  messageId: '7',
  at: NOW - 20_000,
  outcome: 'turn',
  reason: 'written by an owner; in a direct chat',
  turn: null,
};
const TURN: TurnTrace = {
  startedAt: NOW - 19_500,
  finishedAt: NOW - 16_000,
  outcome: 'answered',
  reason: null,
  attempts: 1,
  parts: { sent: 2, waiting: 0, unknown: 0, failed: 0 },
};
const turn = (change: Partial<TurnTrace>): MessageTrace => ({
  ...TAKEN,
  turn: { ...TURN, ...change },
});
const AWAITED = { code: 'ABC234', tool: 'write', approvers: [], expiresAt: NOW + 600_000 };
const lastLine = (story: MessageTrace, audience: 'owner' | 'others' = 'owner') =>
  describeStories([story], NOW, audience).split('\n').at(-1);

describe('what happened to a message', () => {
  const taken = 'taken (written by an owner; in a direct chat)';
  it.each<[MessageTrace, string]>([
    [
      { ...TAKEN, outcome: 'ignored', reason: 'the bot was not addressed' },
      'no answer (the bot was not addressed).',
    ],
    [{ ...TAKEN, outcome: 'refused', reason: 'not on the list' }, 'refused (not on the list).'],
    [
      { ...TAKEN, outcome: 'command', reason: null },
      'a command; answered at once, without the model.',
    ],
    [{ ...TAKEN, outcome: 'waiting' }, `${taken}; waits for its turn.`],
    [{ ...TAKEN, outcome: 'withdrawn' }, `${taken}; deleted by its author before its turn.`],
    [{ ...TAKEN, outcome: 'set-aside' }, `${taken}; set aside by /stop before its turn.`],
    [turn({}), `${taken}; waited 0.5 s; answered after 3.5 s; parts: 2 sent.`],
    [
      turn({ parts: { sent: 1, waiting: 1, unknown: 1, failed: 2 }, attempts: 2 }),
      `${taken}; waited 0.5 s; answered after 3.5 s, started 2 times; parts: 1 sent, 1 on the way, 1 perhaps sent, 2 not deliverable.`,
    ],
    [
      turn({ outcome: 'running', finishedAt: null }),
      `${taken}; waited 0.5 s; its turn has been running for 20 s.`,
    ],
    [
      turn({ outcome: 'running', finishedAt: null, awaits: AWAITED }),
      `${taken}; waited 0.5 s; its turn waits until my owner approves \`write\` (\`/approve ABC234\` or \`/deny ABC234\`); it continues without it in 10 min.`,
    ],
    [
      turn({
        outcome: 'running',
        finishedAt: null,
        awaits: { ...AWAITED, approvers: ['telegram:7', 'web:owner'], expiresAt: NOW },
      }),
      `${taken}; waited 0.5 s; its turn waits until my owner or \`telegram:7\`, \`web:owner\` approves \`write\` (\`/approve ABC234\` or \`/deny ABC234\`); the time is up, and it continues without it now.`,
    ],
    [turn({ outcome: 'stopped' }), `${taken}; waited 0.5 s; stopped by /stop after 3.5 s.`],
    [
      turn({ outcome: 'silent', reason: 'nothing to add' }),
      `${taken}; waited 0.5 s; the agent chose to say nothing (nothing to add) after 3.5 s.`,
    ],
    [
      turn({
        outcome: 'failed',
        reason: 'model at host failed',
        parts: { ...TURN.parts, sent: 1 },
      }),
      `${taken}; waited 0.5 s; failed (model at host failed) after 3.5 s; parts: 1 sent.`,
    ],
  ])('[D08] is shown on one line (%#)', (story, expected) => {
    expect(lastLine(story)).toBe(`- 20 s ago (message \`7\`): ${expected}`);
  });

  it('[D08] [W02] does not name servers in a group', () => {
    const failed = turn({ outcome: 'failed', reason: 'model at secret-host failed' });
    expect(lastLine(failed, 'others')).not.toContain('secret-host');
  });

  it('[D08] reports that no message is known', () => {
    expect(describeStories([], NOW, 'owner')).toBe('I have no message on record here.');
  });

  it('[G05] [D08] does not show a group who besides the owner may decide', () => {
    const awaits = { ...AWAITED, approvers: ['telegram:7'] };
    const story = turn({ outcome: 'running', finishedAt: null, awaits });
    const line = lastLine(story, 'others');
    expect(line).toContain('my owner or an approver my owner has named approves `write`');
    expect(line).not.toContain('telegram:7');
  });

  it.each([
    ['beat_main_9', 'owner', 'an alert ⚙️ from my standing task `mail`, in a run of a heartbeat'],
    ['asked:1', 'owner', 'an alert ⚙️ from my standing task `mail`, in a run that was asked for'],
    ['beat_main_9', 'others', 'an alert ⚙️ from my standing task, in a run of a heartbeat'],
  ] as const)(
    '[D08] [H04] names the task and the run of an alert (%s, %s)',
    (messageId, to, words) => {
      const story = { ...turn({}), outcome: 'alert', messageId, reason: 'mail' } as const;
      expect(lastLine(story, to)).toBe(`- 20 s ago: ${words}; parts: 2 sent.`);
    },
  );
});

let scene: IngressScene;
beforeEach(async () => {
  scene = new IngressScene();
  await scene.open();
});
afterEach(() => scene.store.close());

describe('/why', () => {
  const group = { id: '-9', type: 'group' } as const;
  const why = (change: object) =>
    scene.receive(createMessage({ text: '/why', messageId: '50', ...change }));

  it('[D08] reports the latest messages of the chat, without their text', async () => {
    await scene.receive(createMessage({ chat: group, messageId: '1', text: 'secret words' }));
    await scene.receive(createMessage({ messageId: '2', text: 'in another chat' }));
    await why({ chat: group, addressed: true });
    const [answer = ''] = await scene.told('-9');
    expect(answer).toContain('(message 1): no answer (the bot was not addressed).');
    expect(answer).not.toContain('message 2');
    expect(
      JSON.stringify(await scene.store.decisions.stories({ ...OWNER_CHAT, chatId: '-9' }, 9)),
    ).not.toContain('secret');
  });

  it('[D08] reports accepted messages with the reason, and rate-limited ones', async () => {
    for (const messageId of ['1', '2', '3', '4']) await scene.receive(createMessage({ messageId }));
    await why({});
    const answer = (await scene.told()).at(-1);
    expect(answer).toContain('taken (written by an owner; in a direct chat); waits for its turn.');
    expect(answer).toContain(
      '(message 4): refused (3 messages in this conversation are already waiting)',
    );
  });

  it('[D08] shows all stages of the message that is named, the last one, or the one replied to', async () => {
    await scene.receive(createMessage({ messageId: '1', text: 'secret words' }));
    await why({ text: '/why 1' });
    await why({ text: '/why last', messageId: '51' });
    await why({ replyTo: { messageId: '1' }, messageId: '52' });
    const answers = await scene.told();
    expect(answers).toHaveLength(3);
    for (const answer of answers) {
      expect(answer).toMatch(/^Message 1: No answer yet: it waits for a worker\./);
      expect(answer).toMatch(/access allowed: written by an owner/);
      expect(answer).not.toContain('secret');
    }
  });

  it('[D08] [W02] shows a group only its own messages, and without names', async () => {
    await scene.receive(createMessage({ chat: group, messageId: '1', addressed: true }));
    await scene.receive(createMessage({ messageId: '2' }));
    const { store } = scene;
    const work = { conversationId: 'telegram:default:-9', owner: 'worker_7', leaseMs: 9 };
    const started = await store.lanes.begin(work, 'collect', 't1', scene.now);
    if (started.kind !== 'turn') throw new Error(started.kind);
    const failed = { turnId: 't1', outcome: 'failed', reason: 'host.example is down' } as const;
    const commit = { ...failed, entries: [], parts: [], usage: null };
    await store.lanes.commit(started.lease, commit, scene.now);
    await why({ chat: group, addressed: true, text: '/why 1' });
    await why({ chat: group, addressed: true, text: '/why 2', messageId: '51' });
    const [own, other] = await scene.told('-9');
    expect(own).toContain('Its turn failed');
    expect(own).not.toMatch(/host\.example|worker_7/);
    expect(other).toBe('There is no such message. last is the newest one.');
  });

  it('[D08] is for the owner only', async () => {
    await why({ chat: group, addressed: true, sender: { id: '7' } });
    expect(await scene.told('-9')).toEqual(['/why is for my owner only.']);
  });
});
