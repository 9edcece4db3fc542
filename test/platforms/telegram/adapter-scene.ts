import { setTimeout as delay } from 'node:timers/promises';
import { telegram } from '@parley/channel-telegram';
import type { ChannelAdapter, ChannelEnv } from '@parley/channels';
import {
  startTelegramDouble,
  type TelegramDouble,
  type TelegramDoubleOptions,
} from '@parley/simulators/telegram';
import { type CoreOverrides, createCore, type ReportedEvents } from '../adapter-core.ts';

/** The longest pause between attempts, in ms. */
const MAX_PAUSE_MS = 60_000;

const cleanUp: (() => Promise<void>)[] = [];

/** The adapter, its double, and everything that the adapter reports to the core. */
export interface TelegramScene extends ReportedEvents {
  readonly double: TelegramDouble;
  readonly adapter: ChannelAdapter;
  readonly waits: number[];
  /** Creates another adapter with the data stored by the first adapter. */
  readonly again: () => ChannelAdapter;
}

/** Differences from the default scene. */
export interface TelegramSceneOptions extends CoreOverrides {
  /**
   * Ends a wait that is longer than any pause between attempts; without it, only a stop ends the
   * wait.
   */
  readonly watch?: () => Promise<void>;
  readonly settings?: (double: TelegramDouble) => object;
  readonly double?: TelegramDoubleOptions;
}

/** Starts a double and creates an adapter for it that does not wait between its attempts. */
export async function startTelegramScene(
  wishes: TelegramSceneOptions = {},
): Promise<TelegramScene> {
  const double = await startTelegramDouble(wishes.double);
  const waits: number[] = [];
  const env: ChannelEnv = {
    random: () => 0,
    wait: async (ms, signal) => {
      waits.push(ms);
      const stopped = new Promise<void>((resolve) =>
        signal.addEventListener('abort', () => resolve()),
      );
      const over = ms > MAX_PAUSE_MS ? wishes.watch?.() : delay(1);
      await Promise.race([stopped, over ?? stopped]);
    },
  };
  const connect = await telegram.load();
  const settings = { token: double.token, apiRoot: double.apiRoot, ...wishes.settings?.(double) };
  const changed = () => double.transcript.changes.changed();
  const { told, context } = createCore(settings, changed, wishes);
  const adapter = connect(context, env);
  cleanUp.push(async () => {
    await adapter.stop();
    await double.close();
  });
  return { ...told, double, adapter, waits, again: () => connect(context, env) };
}

/** Closes everything that `scene` started. */
export async function endScenes(): Promise<void> {
  await Promise.all(cleanUp.splice(0).map((close) => close()));
}
