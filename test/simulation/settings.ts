import type { SceneAdditions, SimulationScene } from './scene.ts';
import { MODEL_URL } from './world/model.ts';
import { createChannelSettings } from './world/platform-kind.ts';

/** A model that sends nothing, or never ends, is abandoned within the time of a simulation. */
const MODEL_TIMEOUTS = { firstTokenMs: 15_000, chunkMs: 15_000, totalMs: 45_000 };

/** Settings of every simulated Parley, combined with the scene's own settings. */
export function createSettings(
  { platforms, settings }: SimulationScene,
  isShared: boolean,
  brought: SceneAdditions | undefined,
): object {
  return {
    model: {
      provider: 'openai-compatible',
      baseUrl: MODEL_URL,
      model: 'seed',
      apiKey: 'seed',
      timeouts: MODEL_TIMEOUTS,
    },
    channels: {
      ...Object.fromEntries(platforms.map((kind) => [kind.id, createChannelSettings(kind)])),
      ...brought?.settings,
    },
    log: { keepMegabytes: 0 },
    limits: { turnMinutes: 1 },
    ...(isShared && {
      store: { url: 'postgres://simulation/parley' },
      queue: { url: 'redis://simulation' },
    }),
    ...settings,
  };
}
