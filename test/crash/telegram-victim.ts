import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTelegramDouble, type TelegramDouble } from '@parley/simulators/telegram';
import { type ModelDouble, startModelDouble } from '../model/index.ts';
import type { ReplyScript } from '../model/scripted-reply.ts';
import { openEmbedded } from './embedded.ts';
import type { SupervisedProcess } from './kept-alive.ts';

/** A Parley that can be killed at a point, with doubles of Telegram and the model. */
export interface TelegramVictim {
  /** The parent of the data folder. */
  readonly root: string;
  readonly telegram: TelegramDouble;
  readonly model: ModelDouble;
  readonly parley: SupervisedProcess;
  close(): Promise<void>;
}

interface VictimSettings {
  /** Settings of the channel, besides those that connect it to the double. */
  readonly channel?: object;
  readonly settings: object;
  readonly reply: ReplyScript;
}

/** Starts the doubles, then Parley as `parley start` does. */
export async function startTelegramVictim({
  channel = {},
  settings,
  reply,
}: VictimSettings): Promise<TelegramVictim> {
  const root = mkdtempSync(join(tmpdir(), 'parley-crash-'));
  const [telegram, model] = await Promise.all([startTelegramDouble(), startModelDouble({ reply })]);
  const { token, apiRoot } = telegram;
  const { processes } = openEmbedded(
    root,
    {
      model: { provider: 'openai-compatible', baseUrl: model.baseUrl, model: 'double' },
      channels: { telegram: { token, apiRoot, pace: false, ...channel } },
      http: { port: 0 },
      ...settings,
    },
    () => {},
  );
  const [parley] = processes;
  if (parley === undefined) throw new Error('The embedded deployment has one process.');
  parley.start();
  return {
    ...{ root, telegram, model, parley },
    async close() {
      parley.abandon();
      await Promise.all([telegram.close(), model.close()]);
      rmSync(root, { recursive: true, force: true });
    },
  };
}
