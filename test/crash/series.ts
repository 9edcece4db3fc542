import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startModelDouble } from '../model/index.ts';
import { CrashRounds } from './crash-rounds.ts';
import type { Kill } from './kill.ts';
import type { Side } from './side.ts';
import type { Tally } from './tally.ts';
import { replyTo } from './words.ts';

/** What a series of rounds runs on. */
export interface SeriesOptions {
  /** Empty or absent; afterwards it holds what Parley left there. */
  readonly folder: string;
  readonly openSide: (folder: string) => Promise<Side>;
  readonly kills: readonly Kill[];
}

/** Short, so that bursts become several turns, and long enough to be killed in. */
const THINKING_MS = 40;

/**
 * Kills Parley once or more in each round while people ask, lets it come to rest after each round,
 * ends it in order and counts what became of every question.
 */
export async function runSeries(options: SeriesOptions): Promise<Tally> {
  mkdirSync(options.folder, { recursive: true });
  const side = await options.openSide(options.folder);
  const requests = new Map<string, number>();
  let replies = 0;
  let onRequest = (): void => {};
  const model = await startModelDouble({
    latencyMs: THINKING_MS,
    reply(request) {
      replies += 1;
      const reply = replyTo(request, replies);
      const [, asked = ''] = / to (.*?) ok/.exec(reply) ?? [];
      requests.set(asked, (requests.get(asked) ?? 0) + 1);
      onRequest();
      return reply;
    },
  });
  writeSettings(options.folder, side, model.baseUrl);
  const crash = new CrashRounds(options.folder, side, (listener) => {
    onRequest = listener;
  });
  try {
    for (const kill of options.kills) await crash.round(kill);
    return await crash.count(askedAgain(requests));
  } finally {
    crash.abandon();
    await Promise.all([side.close(), model.close()]);
  }
}

/** Requests about the same questions as an earlier one: what crashes cost in model calls. */
function askedAgain(requests: ReadonlyMap<string, number>): number {
  return [...requests.values()].reduce((sum, times) => sum + times - 1, 0);
}

function writeSettings(folder: string, side: Side, modelUrl: string): void {
  const settings = {
    model: { provider: 'openai-compatible', baseUrl: modelUrl, model: 'double' },
    channels: side.settings,
    lanes: { collectPauseMs: 30 },
    http: { port: 0 },
    log: { level: 'warn', format: 'json' },
  };
  // JSON is YAML.
  writeFileSync(join(folder, 'parley.yaml'), JSON.stringify(settings));
}
