import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemTime } from '@parley/core';
import { startTelegramDouble, type TelegramDouble } from '@parley/simulators/telegram';
import type { CliContext } from '../../apps/parley/src/cli.ts';
import {
  getCurrentMachine,
  type ServiceMachine,
} from '../../apps/parley/src/commands/service/manager.ts';
import { installService } from '../../apps/parley/src/commands/service/service.ts';
import { LIMITS } from '../../apps/parley/src/commands/upgrade/rehearse.ts';
import type { UpgradeContext } from '../../apps/parley/src/commands/upgrade/upgrade.ts';
import { WATCH_LIMITS } from '../../apps/parley/src/commands/upgrade/watch.ts';
import { locateDataFolder } from '../../apps/parley/src/data-folder.ts';
import { SYSTEMCTL } from '../../apps/parley/src/testing/systemctl.ts';
import { type ModelDouble, startModelDouble } from '../model/index.ts';
import type { PackedBuilds } from './installed.ts';

/** A service that npm has installed, with people who keep writing to it. */
export interface Production {
  readonly cli: CliContext;
  readonly context: UpgradeContext;
  readonly telegram: TelegramDouble;
  readonly printed: readonly string[];
  /** The root of the release whose process runs now. */
  runningRoot(): string;
  /** Lets people write until `stop`; returns the numbers of their messages. */
  keepWriting(): { stop(): Promise<readonly number[]> };
  /** How often each of these messages was answered. */
  countAnswers(numbers: readonly number[]): readonly number[];
  close(): Promise<void>;
}

const CHATS = [501, 502];

/** Installs a release as a service of a machine in a temporary folder, and starts it. */
export async function startProduction(builds: PackedBuilds): Promise<Production> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'parley-production-')));
  const programs = join(home, 'bin');
  for (const name of ['bin', 'run/systemd/system', 'data'])
    mkdirSync(join(home, name), { recursive: true });
  writeFileSync(join(programs, 'systemctl'), SYSTEMCTL, { mode: 0o755 });
  writeFileSync(join(programs, 'unit'), join(home, '.config/systemd/user/parley.service'));
  const [telegram, model] = await Promise.all([
    startTelegramDouble(),
    startModelDouble({ models: ['double'] }),
  ]);
  const root = await builds.install(home);
  const machine: ServiceMachine = {
    ...getCurrentMachine({ PATH: `${programs}:/usr/bin:/bin` }),
    ...{ platform: 'linux', uid: 1000, user: 'ada', home },
    launcher: join(root, 'apps/parley/bin/parley.js'),
    at: (path) => join(home, path),
  };
  const printed: string[] = [];
  const folder = locateDataFolder(join(home, 'data'), {});
  const cli: CliContext = { folder, env: {}, print: (text) => void printed.push(text) };
  writeFileSync(folder.settingsFile, JSON.stringify(createSettings(telegram, model)));
  if ((await installService(cli, {}, machine)) !== 0) throw new Error(printed.join('\n'));
  return {
    ...{ cli, telegram, printed, context: createContext(machine, root) },
    runningRoot: () => readRunningRoot(programs),
    keepWriting: () => keepWriting(telegram),
    countAnswers: (numbers) => countAnswers(telegram, numbers),
    async close() {
      spawnSync(join(programs, 'systemctl'), ['disable']);
      await Promise.all([telegram.close(), model.close()]);
      rmSync(home, { recursive: true, force: true });
    },
  };
}

function createSettings(telegram: TelegramDouble, model: ModelDouble): object {
  const { token, apiRoot } = telegram;
  return {
    ...{
      owners: ['telegram:501'],
      http: { port: 0 },
      lanes: { collectPauseMs: 0, busy: 'followup' },
    },
    model: { provider: 'openai-compatible', baseUrl: model.baseUrl, model: 'double' },
    channels: { telegram: { token, apiRoot, pace: false, access: { direct: 'open' } } },
  };
}

function createContext(machine: ServiceMachine, root: string): UpgradeContext {
  return {
    machine,
    limits: { ...LIMITS, startMs: 20_000, runMs: 500, answerMs: 8_000, settleMs: 200 },
    watch: {
      ...WATCH_LIMITS,
      ...{
        watchMs: 5_000,
        startMs: 20_000,
        downMs: 1_500,
        waitSeconds: 5,
      },
    },
    time: { ...systemTime, wait: (ms) => sleep(Math.min(ms, 300)) },
    ...{ current: `${root}/`, launcherRoot: `${root}/` },
  };
}

/** The launcher marks the bundle that a process runs. */
function readRunningRoot(programs: string): string {
  const pid = readFileSync(join(programs, 'pid'), 'utf8').trim();
  const home = join(programs, '../lib/node_modules/parley');
  const { hash } = JSON.parse(readFileSync(join(home, 'dist/bundle.json'), 'utf8'));
  const choice = join(home, 'dist/upgraded.json');
  const roots = existsSync(choice)
    ? [join(home, JSON.parse(readFileSync(choice, 'utf8')).release), home]
    : [home];
  return roots.find((root) => existsSync(join(root, 'dist', hash, 'running', pid))) ?? 'none';
}

const INTERVAL_MS = 400;
let next = 0;

function keepWriting(telegram: TelegramDouble) {
  const written: number[] = [];
  const write = () => {
    next += 1;
    written.push(next);
    const id = CHATS[next % CHATS.length] ?? 0;
    telegram.say({ chat: id, from: id, text: `question <${next}>` });
  };
  write();
  const timer = setInterval(write, INTERVAL_MS);
  return {
    async stop() {
      clearInterval(timer);
      write();
      return written;
    },
  };
}

function countAnswers(telegram: TelegramDouble, numbers: readonly number[]): readonly number[] {
  const said = CHATS.flatMap((chat) => telegram.conversation(chat))
    .filter(({ from }) => from === 'bot')
    .map(({ text }) => text)
    .join('\n');
  return numbers.map((number) => said.split(`<${number}>`).length - 1);
}
