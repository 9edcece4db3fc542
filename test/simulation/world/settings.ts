import type { Scene } from '../scene.ts';
import { MODEL_URL } from './model.ts';

/** A model that says nothing, or never ends, is given up within the time that a simulation has. */
const MODEL_TIMEOUTS = { firstTokenMs: 15_000, chunkMs: 15_000, totalMs: 45_000 };

/** Settings that every simulated Parley has. */
export function settingsOf({ platforms, settings }: Scene, isShared: boolean): object {
  return {
    model: {
      provider: 'openai-compatible',
      baseUrl: MODEL_URL,
      model: 'seed',
      apiKey: 'seed',
      timeouts: MODEL_TIMEOUTS,
    },
    channels: Object.fromEntries(platforms.map(({ id }) => [id, { access: { direct: 'open' } }])),
    log: { keepMegabytes: 0 },
    ...(isShared && {
      store: { url: 'postgres://simulation/parley' },
      queue: { url: 'redis://simulation' },
    }),
    ...settings,
  };
}
