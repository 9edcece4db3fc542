import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TelegramSide } from './doubles.ts';
import { npmStart, type StartedProcess, startProcess } from './started-process.ts';

/** What is measured: Parley, or the baseline beside it. */
export type SubjectName = 'parley' | 'bare';
export const SUBJECTS: readonly SubjectName[] = ['parley', 'bare'];

/** Where a subject runs. `folder` is kept between starts or not, which decides what is warm. */
export interface Surroundings {
  readonly folder: string;
  readonly telegram: TelegramSide;
  readonly modelUrl: string;
  /** More arguments for node, for example `--cpu-prof`. */
  readonly nodeArguments?: readonly string[];
}

/** Starts a subject as its user does. */
export function startSubject(name: SubjectName, where: Surroundings): StartedProcess {
  const { args, env, readyLine } = name === 'parley' ? parley(where) : bare(where);
  const { folder, nodeArguments = [] } = where;
  return startProcess({ name, folder, args: [...nodeArguments, ...args], env, readyLine });
}

/** Settings of a Parley for anybody who writes to this Telegram. */
export function settingsFor({ telegram, modelUrl }: Pick<Surroundings, 'telegram' | 'modelUrl'>) {
  return {
    model: { provider: 'openai-compatible', baseUrl: modelUrl, model: 'double' },
    channels: {
      telegram: {
        token: telegram.token,
        apiRoot: telegram.apiRoot,
        // The bot it is compared with does not pace itself either.
        pace: false,
        access: { direct: 'open' },
      },
    },
    http: { port: 0 },
    // A load of a day comes from few people.
    spend: { perStrangerDaily: 'off' },
  };
}

/** Writes the settings once; the workspace and the database are Parley's own business. */
export function writeSettings(folder: string, settings: object): string {
  const data = join(folder, 'data');
  mkdirSync(data, { recursive: true });
  // JSON is YAML.
  writeFileSync(join(data, 'parley.yaml'), JSON.stringify(settings));
  return data;
}

function parley(where: Surroundings) {
  const data = writeSettings(where.folder, settingsFor(where));
  return { args: [...npmStart(), '--data', data], env: {}, readyLine: 'Parley is running' };
}

function bare({ folder, telegram, modelUrl }: Surroundings) {
  const env = {
    BOT_TOKEN: telegram.token,
    API_ROOT: telegram.apiRoot,
    MODEL_URL: modelUrl,
    // What Parley turns on for itself.
    NODE_COMPILE_CACHE: join(folder, 'tmp/node-compile-cache'),
  };
  return { args: [join(import.meta.dirname, 'bare-telegraf.ts')], env, readyLine: 'ready' };
}
