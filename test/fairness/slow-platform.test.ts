import { afterEach, describe, expect, it } from 'vitest';
import { ANN, BO, startTelegramScene, type TelegramScene } from '../e2e/telegram-scene.ts';

let scene: TelegramScene;
afterEach(() => scene.close());

/** Telegram now refuses this chat and says how long to wait. */
function limit(chat: number, seconds: number, times: number): void {
  const description = `Too Many Requests: retry after ${seconds}`;
  const parameters = { retry_after: seconds };
  for (const method of ['sendMessage', 'editMessageText']) {
    scene.telegram.fault({
      kind: 'refuse',
      code: 429,
      description,
      parameters,
      method,
      chat,
      times,
    });
  }
}

const sendsTo = (chat: number) =>
  scene.telegram
    .calls()
    .filter(({ method, params }) => method === 'sendMessage' && `${params.chat_id}` === `${chat}`);

describe('a platform with a rate limit', () => {
  it('[D05] delays only the chat that is limited, whose answers arrive in order', async () => {
    scene = await startTelegramScene();
    limit(BO, 4, 1_000);
    for (const nth of [1, 2, 3]) {
      scene.telegram.say({ chat: BO, text: `slow ${nth}` });
      scene.telegram.say({ chat: ANN, text: `quick ${nth}` });
      expect(await scene.untilAnswers(ANN, nth)).toHaveLength(nth);
    }
    expect(scene.answers(BO)).toEqual([]);
    await new Promise((wake) => setTimeout(wake, 9_000));
    scene.telegram.clearFaults();
    const answers = await scene.telegram.waitFor(
      () => scene.answers(BO).at(-1) === 'You said: slow 3' && scene.answers(BO),
      20_000,
    );
    expect(answers.map((text) => Number(text.at(-1)))).toEqual(
      [...new Set(answers.map((text) => Number(text.at(-1))))].sort(),
    );
    // Sends one attempt each time the platform allows it.
    expect(sendsTo(BO).length).toBeLessThan(12);
  });
});
