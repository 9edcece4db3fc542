import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '@parley/store';
import { afterEach, describe, expect, it } from 'vitest';
import { createCountingTool, say } from '../testing/tool-scene.ts';
import {
  listToolMessages,
  openTurnScene,
  type SceneOptions,
  type TurnScene,
} from '../testing/turn-scene.ts';
import { createBuiltInTools } from '../tools/built-in-tools.ts';

let scene: TurnScene;
afterEach(() => scene.close());

async function open(extras: SceneOptions): Promise<TurnScene> {
  scene = await openTurnScene({}, extras);
  return scene;
}

describe('a turn that is interrupted and run again', () => {
  const SCRIPT = [
    { say: 'First.', calls: [say('parrot', 'a'), say('crow', 'b')] },
    { calls: [say('crow', 'c')] },
    { say: 'The answer.' },
  ] as const;

  /**
   * Makes the process die before step `number` is stored, or right after it. The commit counts as
   * the last step.
   */
  function dieAt(store: Store, number: number, when: 'before' | 'after'): () => void {
    const { turns, lanes } = store;
    let stored = 0;
    const mortal =
      <Args extends unknown[], Result>(write: (...args: Args) => Promise<Result>) =>
      async (...args: Args): Promise<Result> => {
        stored += 1;
        if (stored === number && when === 'before') throw new Error('killed');
        const result = await write(...args);
        if (stored === number) throw new Error('killed');
        return result;
      };
    Object.assign(store, {
      turns: { ...turns, appendStep: mortal(turns.appendStep) },
      lanes: { ...lanes, commit: mortal(lanes.commit) },
    });
    return () => void Object.assign(store, { turns, lanes });
  }

  /**
   * The steps of the script before its answer: model, result, started, result, model, started,
   * result.
   */
  const ALL = [1, 2, 3, 4, 5, 6, 7];

  it.each(ALL)(
    '[G16] does not repeat a stored step if the process dies after step %i',
    async (number) => {
      const [parrot, crow] = [createCountingTool('parrot'), createCountingTool('crow', 'external')];
      await open({ tools: [parrot.tool, crow.tool] });
      await scene.write('go');
      scene.model.next(...SCRIPT);
      const revive = dieAt(scene.store, number, 'after');
      const started = await scene.begin();
      await expect(scene.run(started)).rejects.toThrow('killed');
      revive();
      await scene.store.lanes.release(started.lease);
      await scene.answerNext();
      expect(await scene.owed()).toEqual(['The answer.']);
      expect(parrot.calls).toHaveLength(1);
      // If the process dies between the start of a call and its result, the outcome is unknown, so
      // the call never runs again.
      const expected = { 3: ['c'], 6: ['b'] }[number] ?? ['b', 'c'];
      expect(crow.calls.map(({ word }) => word)).toEqual(expected);
      expect(scene.model.asked).toHaveLength(3);
      expect(listToolMessages(scene.model.asked[2])).toHaveLength(3);
    },
  );

  it('[G16] asks again only for the answer if the process dies after receiving it', async () => {
    const [parrot, crow] = [createCountingTool('parrot'), createCountingTool('crow', 'external')];
    await open({ tools: [parrot.tool, crow.tool] });
    await scene.write('go');
    scene.model.next(...SCRIPT, { say: 'The answer again.' });
    const revive = dieAt(scene.store, 8, 'before');
    const started = await scene.begin();
    await expect(scene.run(started)).rejects.toThrow('killed');
    revive();
    await scene.store.lanes.release(started.lease);
    await scene.answerNext();
    expect(await scene.owed()).toEqual(['The answer again.']);
    expect([parrot.calls.length, crow.calls.length]).toEqual([1, 2]);
    expect(scene.model.asked).toHaveLength(4);
  });

  it('[G16] does not repeat a call that may have taken effect, and tells the model', async () => {
    const crow = createCountingTool('crow', 'external');
    await open({ tools: [crow.tool] });
    await scene.write('go');
    scene.model.next({ calls: [say('crow', 'a')] }, { say: 'I am not sure.' });
    // Step 3 would be the call's result: the tool has run, and the process dies before the result
    // is stored.
    const revive = dieAt(scene.store, 3, 'before');
    const started = await scene.begin();
    await expect(scene.run(started)).rejects.toThrow('killed');
    revive();
    await scene.store.lanes.release(started.lease);
    await scene.answerNext();
    expect(crow.calls).toHaveLength(1);
    expect(listToolMessages(scene.model.asked[1])[0]).toMatchObject({
      failed: true,
      content: expect.stringContaining('It is not known whether it took effect'),
    });
  });

  it('[G16] repeats a call that only reads, under the same id', async () => {
    const parrot = createCountingTool('parrot');
    await open({ tools: [parrot.tool] });
    await scene.write('go');
    scene.model.next({ calls: [say('parrot', 'a')] });
    const revive = dieAt(scene.store, 2, 'before');
    const started = await scene.begin();
    await expect(scene.run(started)).rejects.toThrow('killed');
    revive();
    await scene.store.lanes.release(started.lease);
    await scene.answerNext();
    const ids = parrot.calls.map(({ call }) => call.callId);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
  });

  it('[D11] is released between tools at shutdown, and resumes at that step', async () => {
    const stop = new AbortController();
    const parrot = createCountingTool('parrot', 'read', () => stop.abort('handed-back'));
    await open({ tools: [parrot.tool] });
    await scene.write('go');
    scene.model.next({ calls: [say('parrot', 'a')] });
    const started = await scene.begin();
    await scene.run(started, stop.signal);
    expect(scene.outcome()).toBe('handed-back');
    await scene.store.lanes.release(started.lease);
    await scene.answerNext();
    expect(await scene.owed()).toEqual(['fine']);
    expect(scene.model.asked).toHaveLength(2);
  });

  it('[D02] stops once the lease is lost', async () => {
    const parrot = createCountingTool('parrot', 'external');
    await open({ tools: [parrot.tool] });
    await scene.write('go');
    scene.model.next({ calls: [say('parrot', 'a')] });
    const started = await scene.begin();
    await scene.store.lanes.releaseAll();
    await scene.run(started);
    expect(scene.outcome()).toBe('fenced');
    expect(parrot.calls).toEqual([]);
  });

  it('[W02] does not show text from an owner’s run to a person who is no longer an owner', async () => {
    const owners = ['test:1'];
    await open({ tools: createBuiltInTools({}), owners });
    writeFileSync(join(scene.folder, 'MEMORY.md'), 'the heron nests here');
    await scene.write('go');
    const look = { name: 'grep', with: { text: 'heron nests' } };
    scene.model.next({ say: 'herons?', calls: [look] });
    // Step 3 would be the answer.
    const revive = dieAt(scene.store, 3, 'before');
    const started = await scene.begin();
    await expect(scene.run(started)).rejects.toThrow('killed');
    revive();
    owners.length = 0;
    await scene.store.lanes.release(started.lease);
    await scene.answerNext();
    expect(JSON.stringify(scene.model.asked[1])).toContain('heron nests here');
    expect(JSON.stringify(scene.model.asked[2])).not.toContain('heron');
  });
});
