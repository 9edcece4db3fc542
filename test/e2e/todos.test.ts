import { afterEach, expect, it } from 'vitest';
import { ANN, startTelegramScene, type TelegramScene } from './telegram-scene.ts';

let scene: TelegramScene;
afterEach(() => scene?.close());

it('[G12] [F12] a to-do list is shown during the work and by /status, but is not part of the answer', async () => {
  scene = await startTelegramScene();
  const held = Promise.withResolvers<void>();
  const todos = [
    { text: 'Ask *Bo* when he is free', state: 'done' },
    { text: 'Find a table for two', state: 'doing' },
    { text: 'Tell both', state: 'open' },
  ];
  scene.model.reply(async ({ messages }) => {
    if (messages.at(-1)?.role !== 'tool')
      return {
        text: 'I will plan it.',
        toolCalls: [{ name: 'write_todos', arguments: { todos } }],
      };
    await held.promise;
    return 'All is arranged.';
  });
  scene.telegram.say({ chat: ANN, text: 'arrange a dinner with Bo' });
  const shown = await scene.telegram.waitFor(
    () => scene.telegram.drafts().find(({ text }) => text.includes('Find a table')),
    15_000,
  );
  expect(shown.text).toContain('I will plan it.');
  expect(shown.text).toContain('1 of 3 done');
  expect(shown.text).toMatch(/✅.*Bo.*▶️ Find a table for two.*⬜ Tell both/s);
  scene.telegram.say({ chat: ANN, text: '/status' });
  const [status] = await scene.untilAnswers(ANN, 1);
  expect(status).toContain('To-dos, 1 of 3 done');
  held.resolve();
  expect((await scene.untilAnswers(ANN, 2)).at(-1)).toBe('All is arranged.');
});
