import { afterEach, describe, expect, it } from 'vitest';
import { openTurnScene, type ScriptStep, type TurnScene } from '../testing/turn-scene.ts';

let scene: TurnScene;
afterEach(() => scene.close());

/** Runs turns with these model answers and returns the messages in the chat. */
async function talk(answers: readonly ScriptStep[], writing = {}): Promise<readonly string[]> {
  scene = await openTurnScene();
  for (const script of answers) {
    await scene.write('And?', writing);
    scene.model.next(script);
    await scene.answerNext();
  }
  return scene.owed();
}

const OTHER: ScriptStep = { say: 'from the other', answeredBy: 'test/other' };
const USUAL: ScriptStep = { say: 'as usual' };
const TOLD =
  '⚙️ This answer is from test/other instead of test/model. I say so once, and again when it changes.';

describe('an answer from a model other than the selected one', () => {
  it('[G21] is reported in the chat once, not in every turn', async () => {
    expect(await talk([OTHER, OTHER, OTHER])).toEqual([
      'from the other',
      TOLD,
      'from the other',
      'from the other',
    ]);
  });

  it('[G21] is reported again if the selected model has answered in between', async () => {
    expect(await talk([OTHER, USUAL, OTHER])).toEqual([
      'from the other',
      TOLD,
      'as usual',
      'from the other',
      TOLD,
    ]);
  });

  it('[G21] is reported again when a third model answers', async () => {
    const third: ScriptStep = { say: 'from the third', answeredBy: 'test/third' };
    expect(await talk([OTHER, third])).toEqual([
      'from the other',
      TOLD,
      'from the third',
      TOLD.replace('test/other', 'test/third'),
    ]);
  });

  it('[G21] is reported with the first visible answer, not with a silent one', async () => {
    expect(await talk([{ ...OTHER, say: 'NO_REPLY' }, OTHER])).toEqual(['from the other', TOLD]);
  });

  it('[G21] is not reported to a program, which would mistake the notice for a part of the answer', async () => {
    expect(await talk([OTHER], { appends: true })).toEqual(['from the other']);
  });

  it('[D08] is named in its message’s timeline', async () => {
    await talk([OTHER]);
    const found = await scene.store.why.ask({ message: 'm1' }, scene.now());
    if (found.kind !== 'found') throw new Error('the message is not known');
    expect(found.timeline.entries.map(({ detail }) => detail)).toContain(
      'test/other instead of test/model',
    );
  });
});
