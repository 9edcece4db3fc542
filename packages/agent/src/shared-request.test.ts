import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ModelRequest } from '@parley/models';
import { afterEach, expect, it } from 'vitest';
import { createTestPrompt, openTurnScene, type TurnScene } from './testing/turn-scene.ts';

let scene: TurnScene;
afterEach(() => scene.close());

/**
 * The parts of the request in the order a provider reads them: system prompt, earlier messages, new
 * message.
 */
function bytesOf(request: ModelRequest | undefined): Buffer {
  const { system = [], messages = [] } = request ?? {};
  const said = messages.map(({ role, content }) => `${role}: ${content}`);
  return Buffer.from([...system.map(({ text }) => text), ...said].join('\n\n'));
}

/**
 * Returns the last two requests of a long conversation, nine minutes apart and within the same
 * ten-minute window.
 */
async function talk(layout: string): Promise<readonly [Buffer, Buffer]> {
  const history = { entries: 100, tokens: 50_000 };
  scene = await openTurnScene({}, { prompt: createTestPrompt(layout), history });
  writeFileSync(join(scene.folder, 'AGENTS.md'), 'Answer first, explain if it helps. '.repeat(40));
  writeFileSync(join(scene.folder, 'SOUL.md'), 'Calm, curious, kind. '.repeat(40));
  for (let said = 1; said <= 30; said += 1) {
    scene.model.next({ say: `Number ${said} is here. `.repeat(50) });
    await scene.write(`What of number ${said}? `.repeat(10));
    await scene.answerNext();
  }
  // At 14:05, a new ten-minute window begins.
  scene.later(5 * 60_000);
  for (const text of ['and now?', 'thanks']) {
    await scene.write(text);
    await scene.answerNext();
    scene.later(9 * 60_000);
  }
  const [first, second] = scene.model.asked.slice(-2).map(bytesOf);
  if (first === undefined || second === undefined) throw new Error('the model was asked nothing');
  return [first, second];
}

it.each([
  ['parley', 0.95],
  ['mushroom', 0.95],
  ['zeus', 0.95],
  ['openclaw', 0.95],
  ['neomagi', 0.95],
  // This layout puts the workspace files into the user message.
  ['lab', 0.9],
] as const)(
  '[P04] [P06] [P09] in the `%s` layout, two requests nine minutes apart share at least %d of their bytes',
  async (layout, least) => {
    const [first, second] = await talk(layout);
    const shared = first.findIndex((byte, index) => byte !== second[index]);
    expect(shared / second.length).toBeGreaterThanOrEqual(least);
  },
);
