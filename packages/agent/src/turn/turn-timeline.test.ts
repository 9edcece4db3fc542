import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createCountingTool, say } from '../testing/tool-scene.ts';
import { openTurnScene, type SceneOptions, type TurnScene } from '../testing/turn-scene.ts';
import { OWNER_CHAT } from '../testing/write-message.ts';

let scene: TurnScene;
afterEach(() => scene.close());

async function open(extras: SceneOptions = {}): Promise<void> {
  scene = await openTurnScene({}, extras);
}

/** Returns the stages and texts in a message's timeline, starting with its turn. */
async function told(message: string) {
  const found = await scene.store.why.ask({ message }, 0);
  if (found.kind !== 'found') throw new Error(found.kind);
  const { entries, verdict } = found.timeline;
  const started = entries.findIndex(({ stage }) => stage === 'lane');
  return {
    verdict,
    stages: entries.slice(started).map(({ stage, text }) => `${stage}: ${text}`),
  };
}

async function messageIds(): Promise<readonly string[]> {
  const names = await scene.store.why.recent(9);
  return names.map(({ messageId }) => messageId).toReversed();
}

describe('a turn’s timeline', () => {
  it('[D08] lists each model step and each tool call, without their text', async () => {
    const parrot = createCountingTool('parrot', 'read');
    await open({ tools: [parrot.tool] });
    await scene.write('ask the parrot about amaranth');
    scene.model.next({ calls: [say('parrot', 'amaranth')] }, { say: 'It knows amaranth.' });
    await scene.answerNext();
    const { verdict, stages } = await told('last');
    expect(verdict).toBe('Answered; parts: 1 not sent yet.');
    expect(stages.filter((words) => /^(model|tool|commit)/.test(words))).toEqual([
      expect.stringMatching(/^model: asked: .*calls parrot$/),
      'tool: parrot: done',
      expect.stringMatching(/^model: asked: /),
      expect.stringMatching(/^commit: answered/),
    ]);
    expect(JSON.stringify(stages)).not.toContain('amaranth');
  });

  it('[D08] reports a failed tool and an unknown one', async () => {
    const crow = createCountingTool('crow', 'read', async () => {
      throw new Error('amaranth');
    });
    await open({ tools: [crow.tool] });
    await scene.write('ask the crow');
    const calls = [say('crow', 'a'), { ...say('crow', 'b'), name: 'amaranth' }];
    scene.model.next({ calls }, { say: 'No.' });
    await scene.answerNext();
    const { stages } = await told('last');
    expect(stages).toContain('tool: crow: failed');
    expect(stages).toContain('tool: unknown tool: not run');
  });

  it('[D03] [D08] reports a message that joined the running turn', async () => {
    const parrot = createCountingTool('parrot', 'read', () => scene.write('and that?'));
    await open({ tools: [parrot.tool], busy: 'steer' });
    await scene.write('this');
    scene.model.next({ calls: [say('parrot', 'a')] }, { say: 'Both.' });
    await scene.answerNext();
    const [first = '', second = ''] = await messageIds();
    expect((await told(first)).stages[0]).toBe('lane: waited for its turn');
    expect((await told(second)).verdict).toMatch(/^Answered/);
    expect((await told(second)).stages).toContain('turn: started');
  });

  it('[D03] [D08] reports a message whose turn was ended by a later one', async () => {
    await open({ busy: 'interrupt' });
    await scene.write('a story');
    scene.model.next({ say: 'Long ago.', afterMs: 5_000 });
    const started = await scene.begin();
    const running = scene.run(started);
    await sleep(20);
    await scene.write('rather a poem');
    scene.bus.publish({ type: 'message-waiting', conversationId: OWNER_CHAT });
    await running;
    const [first = ''] = await messageIds();
    const { verdict, stages } = await told(first);
    expect(verdict).toMatch(/^No answer yet: it waits/);
    expect(stages).toContain('lane: its turn was interrupted once by a later message');
  });
});
