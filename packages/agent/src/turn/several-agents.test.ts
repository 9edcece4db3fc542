import type { ClaimedTurn, Lease } from '@parley/store';
import { afterEach, describe, expect, it } from 'vitest';
import { openTurnScene, type TurnScene } from '../testing/turn-scene.ts';
import { createAgentRunner, createUnknownAgentNotice } from './several-agents.ts';

let scene: TurnScene;
afterEach(() => scene?.close());

describe('turns of several agents', () => {
  it('[F14] run with the services of their own agent, never with those of another agent', async () => {
    const ran: string[] = [];
    const by = (name: string) => async () => void ran.push(name);
    const run = createAgentRunner(
      new Map([
        [undefined, by('main')],
        ['desk', by('desk')],
      ]),
      (name) => by(`no ${name}`),
    );
    const lease: Lease = { conversationId: '', epoch: 1 };
    for (const conversationId of ['c', '@desk/c', '@desk/sub:1', '@gone/c']) {
      const turn: ClaimedTurn = {
        ...{ turnId: 't', conversationId, session: 0, resumed: false, attempts: 0 },
        ...{ messages: [], groupContext: [], steps: [] },
      };
      await run(turn, lease, new AbortController().signal);
    }
    expect(ran).toEqual(['main', 'desk', 'desk', 'no gone']);
  });

  it('[F14] [D07] end with a notice if their agent no longer exists, without a model call', async () => {
    scene = await openTurnScene({}, { unavailable: createUnknownAgentNotice('desk') });
    await scene.write('anyone there?');
    await scene.answerNext();
    expect(scene.model.asked).toEqual([]);
    expect(await scene.owed()).toEqual([expect.stringContaining('desk, no longer exists')]);
    expect(scene.outcome()).toBe('failed');
    expect(await scene.store.deadLetters.counts()).toMatchObject({ unanswered: 1 });
  });
});

describe('a task for another agent', () => {
  const ask = async (agent: string) => {
    scene = await openTurnScene({}, { delegates: ['desk'] });
    await scene.write('who is at the desk?');
    const task = { title: 'desk', task: 'say who is there', agent };
    scene.model.next({ calls: [{ name: 'delegate_task', with: task }] }, { say: 'under way' });
    await scene.answerNext();
    return scene.woken.find((lane) => lane.includes('sub:'));
  };

  it('[F14] [G07] runs as a guest of that agent, and its result is returned', async () => {
    const lane = (await ask('desk')) ?? '';
    expect(lane).toMatch(/^@desk\/sub:/);
    expect(await scene.store.subAgents.of(lane)).toMatchObject({
      reader: 'guest',
      parentConversation: 'c',
    });
    scene.model.next({ say: 'Mo is there' });
    await scene.answerNext(lane);
    const { turn } = await scene.begin();
    expect(turn.messages[0]?.message.text).toContain('Mo is there');
    expect(turn.conversationId).toBe('c');
  });

  it('[F14] can be delegated only to agents that the settings name', async () => {
    expect(await ask('lab')).toBeUndefined();
  });
});
