import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTelegramSide, type TelegramSide } from './doubles.ts';
import { readNpmStart, type StartedProcess, startProcess } from './processes.ts';
import { type RedisSide, startRedisSide } from './servers.ts';

/**
 * The compared bots: Parley, the smallest bot that is equally durable, the same bot with Parley's
 * libraries, Chat SDK on Redis, and bare telegraf.
 */
export const SUBJECTS = ['parley', 'least', 'library', 'chat-sdk', 'bare'] as const;
export type SubjectName = (typeof SUBJECTS)[number];

/**
 * A running subject; `pids` are its process and, for the Chat SDK bot, the process of its Redis.
 */
export interface RunningSubject extends StartedProcess {
  readonly name: SubjectName;
  readonly pids: readonly number[];
}

/**
 * The environment of a subject. Whether `folder` is kept between starts determines what is warm.
 */
export interface SubjectEnvironment {
  readonly folder: string;
  readonly telegram: TelegramSide;
  readonly modelUrl: string;
  /** Additional arguments for node, for example `--cpu-prof`. */
  readonly nodeArguments?: readonly string[];
  readonly redis?: RedisSide | undefined;
}

/** Where the rounds of a section run. */
export interface BenchRoom {
  readonly modelUrl: string;
  readonly nodeArguments: readonly string[];
}

/** Starts a subject the way its user would. */
export function startSubject(name: SubjectName, where: SubjectEnvironment): RunningSubject {
  const { folder, nodeArguments = [], redis } = where;
  const { args, env, readyLine } = name === 'parley' ? startParley(where) : startBot(name, where);
  const started = startProcess({
    name,
    folder,
    args: [...nodeArguments, ...args],
    env,
    readyLine,
  });
  return { ...started, name, pids: [started.pid, ...(redis === undefined ? [] : [redis.pid])] };
}

/**
 * Runs `measure` for each subject, `rounds` times alternating, so that other load on the machine
 * affects all of them equally. Each measurement gets a new process, a new Telegram and a new
 * folder.
 */
export async function measureInTurns(
  room: BenchRoom,
  rounds: number,
  measure: (subject: RunningSubject, telegram: TelegramSide) => Promise<void>,
): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    for (const name of SUBJECTS) {
      await using started = await startWithTelegram(room, name);
      await measure(started.subject, started.telegram);
    }
  }
}

/**
 * Starts a subject that polls, in `folder` or a new one, with everything it needs; disposing ends
 * all of it.
 */
export async function startWithTelegram(
  { modelUrl, nodeArguments }: BenchRoom,
  name: SubjectName,
  folder?: string,
) {
  await using opened = new AsyncDisposableStack();
  const place = folder ?? newFolder();
  opened.defer(() => {
    if (folder === undefined) removeFolder(place);
  });
  const telegram = await startTelegramSide();
  opened.defer(telegram.close);
  const redis = name === 'chat-sdk' ? await startRedisSide() : undefined;
  opened.defer(async () => redis?.close());
  const more = name === 'parley' ? nodeArguments : [];
  const where = { folder: place, telegram, modelUrl, redis, nodeArguments: more };
  const subject = startSubject(name, where);
  opened.defer(subject.stop);
  await subject.readyAt;
  await telegram.firstPoll();
  const everything = opened.move();
  return { subject, telegram, [Symbol.asyncDispose]: () => everything.disposeAsync() };
}

/** Passes an empty folder to `use` and removes it afterwards. */
export async function withNewFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = newFolder();
  try {
    return await use(folder);
  } finally {
    removeFolder(folder);
  }
}

const newFolder = () => mkdtempSync(join(tmpdir(), 'parley-bench-'));
const removeFolder = (folder: string) => rmSync(folder, { recursive: true, force: true });

/** Settings of a Parley that answers anyone who writes to this Telegram. */
export function createSettings({
  telegram,
  modelUrl,
}: Pick<SubjectEnvironment, 'telegram' | 'modelUrl'>) {
  return {
    model: { provider: 'openai-compatible', baseUrl: modelUrl, model: 'double' },
    channels: {
      telegram: {
        token: telegram.token,
        apiRoot: telegram.apiRoot,
        // The other bots have no rate limit either.
        pace: false,
        access: { direct: 'open' },
      },
    },
    http: { port: 0 },
    // A few people create the load of a whole day.
    spend: { perStrangerDaily: 'off' },
  };
}

/** Writes the settings once; Parley creates the workspace and the database itself. */
export function writeSettings(folder: string, settings: object): string {
  const data = join(folder, 'data');
  mkdirSync(data, { recursive: true });
  // JSON is valid YAML.
  writeFileSync(join(data, 'parley.yaml'), JSON.stringify(settings));
  return data;
}

function startParley(where: SubjectEnvironment) {
  const data = writeSettings(where.folder, createSettings(where));
  const { args } = readNpmStart();
  return { args: [...args, '--data', data], env: {}, readyLine: 'Parley is running' };
}

const BOTS: Readonly<Record<Exclude<SubjectName, 'parley'>, string>> = {
  least: 'least-bot.ts',
  library: 'library-bot.ts',
  'chat-sdk': 'chat-sdk-bot.ts',
  bare: 'bare-telegraf.ts',
};

function startBot(
  name: keyof typeof BOTS,
  { folder, telegram, modelUrl, redis }: SubjectEnvironment,
) {
  const env = {
    BOT_TOKEN: telegram.token,
    API_ROOT: telegram.apiRoot,
    MODEL_URL: modelUrl,
    DATABASE: join(folder, 'bot.db'),
    REDIS_URL: redis?.url ?? '',
    // Parley enables the compile cache itself.
    NODE_COMPILE_CACHE: join(folder, 'tmp/node-compile-cache'),
  };
  return { args: [join(import.meta.dirname, 'bots', BOTS[name])], env, readyLine: 'ready' };
}
