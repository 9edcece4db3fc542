import type { Scene } from '../scene.ts';
import { MODEL_URL } from './model.ts';

/** Settings that every simulated Parley has. */
export function settingsOf({ platforms, settings }: Scene, isShared: boolean): object {
  return {
    model: { provider: 'openai-compatible', baseUrl: MODEL_URL, model: 'seed', apiKey: 'seed' },
    channels: Object.fromEntries(platforms.map(({ id }) => [id, { access: { direct: 'open' } }])),
    log: { keepMegabytes: 0 },
    limits: { turnMinutes: 1 },
    ...(isShared && {
      store: { url: 'postgres://simulation/parley' },
      queue: { url: 'redis://simulation' },
    }),
    ...settings,
  };
}
