import { startTelegramDouble } from '@parley/simulators/telegram';
import { ANN } from './telegram-scene.ts';
import { startWebScene, type WebScene } from './web-scene.ts';

/** A Parley with its page and a Telegram account, where Ann, an owner, writes. */
export interface WebTelegramScene extends WebScene {
  /** Writes to the bot as Ann. */
  sayAsAnn(text: string): void;
  /** The text of each message that Ann sees in her Telegram chat. */
  textsForAnn(): string[];
}

export async function startWebTelegramScene(
  chromiumUrl: string,
  settings = {},
): Promise<WebTelegramScene> {
  const telegram = await startTelegramDouble();
  const scene = await startWebScene(chromiumUrl, {
    owners: [`telegram:${ANN}`],
    channels: { telegram: { token: telegram.token, apiRoot: telegram.apiRoot } },
    ...settings,
  });
  const closeScene = scene.close;
  // The scene is extended in place, because a restart replaces its Parley.
  return Object.assign(scene, {
    sayAsAnn(text: string) {
      telegram.say({ chat: ANN, from: { id: ANN, first_name: 'Ann' }, text });
    },
    textsForAnn: () => telegram.conversation(ANN).map(({ text }) => text),
    async close() {
      await closeScene();
      await telegram.close();
    },
  });
}
