import type { TodoItem } from '@parley/store';
import { afterEach, describe, expect, it } from 'vitest';
import { openTurnScene, type TurnScene } from '../testing/turn-scene.ts';
import { createTodosSource, createWriteTodosTool } from './todos.ts';

let scene: TurnScene;
afterEach(() => scene?.close());

/**
 * A scene whose agent keeps a to-do list. The tool gets its store after construction, because the
 * scene opens the store.
 */
async function open(): Promise<void> {
  scene = await openTurnScene(
    {},
    {
      tools: [createWriteTodosTool({ replace: (...all) => scene.store.todos.replace(...all) })],
      sources: [createTodosSource({ of: (place) => scene.store.todos.of(place) })],
    },
  );
}
const writes = (todos: readonly object[]) => ({
  say: '',
  calls: [{ name: 'write_todos', with: { todos } }],
});
const list = () => scene.store.todos.of({ conversationId: 'c', session: 0 });
const prompt = () => JSON.stringify(scene.model.asked.at(-1));
const lastResult = () => scene.model.asked.at(-1)?.messages.at(-1)?.content;

describe('the to-do list of a session', () => {
  it('[G12] is written by the model, and shown in later turns until all items are done', async () => {
    await open();
    const [one, two]: readonly TodoItem[] = [
      { text: 'Ask Bo', state: 'done' },
      { text: 'Book a table', state: 'doing' },
    ];
    await scene.write('plan the evening');
    scene.model.next(writes([one ?? {}, two ?? {}]));
    await scene.answerNext();
    expect(await list()).toEqual([one, two]);
    expect(lastResult()).toBe('The list has 2 items, 1 of them not done.');
    await scene.write('go on');
    scene.model.next(writes([{ ...two, state: 'done' }]));
    await scene.answerNext();
    expect(prompt()).toContain('[~] Book a table');
    await scene.write('thanks');
    await scene.answerNext();
    expect(prompt()).not.toContain('Book a table');
  });

  it('[G12] [F12] is shown below the text of the step while the turn runs, and not in the answer', async () => {
    await open();
    await scene.write('plan the evening');
    const list = [{ text: 'Ask Bo', state: 'doing' }];
    scene.model.next({ ...writes(list), say: 'Let me see.' }, writes([]), { say: 'Done.' });
    await scene.answerNext();
    const shown = new Map<number, string>();
    for (const event of scene.events) {
      if (event.type !== 'turn-delta') continue;
      const { step = 0, text } = event;
      shown.set(step, (shown.get(step) ?? '') + text);
    }
    expect([...shown]).toEqual([
      [0, 'Let me see.\n\n0 of 1 done:\n\n- ▶️ Ask Bo'],
      [2, 'Done.'],
    ]);
    expect(await scene.owed()).toEqual(['Done.']);
  });

  it('[G12] is refused if it is too long, and the old list is kept', async () => {
    await open();
    await scene.write('go');
    const item = { text: 'x', state: 'open' };
    scene.model.next(writes([item]), writes(Array.from({ length: 31 }, () => item)));
    await scene.answerNext();
    expect(lastResult()).toContain('do not fit');
    scene.model.next(writes([{ text: 'y'.repeat(201), state: 'open' }]));
    await scene.write('again');
    await scene.answerNext();
    expect(lastResult()).toContain('do not fit');
    expect(await list()).toEqual([item]);
  });

  it('[G12] is not meant for quick questions, and the model is told this', async () => {
    await open();
    await scene.write('what time is it?');
    await scene.answerNext();
    expect(prompt()).toContain('not for a quick question');
  });
});
