import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { ReplayReport } from '@parley/agent/replay-outcome';
import { getConversationAgent, reasonOf, silentLogger, systemTime } from '@parley/core';
import type { Store } from '@parley/store';
import { z } from 'zod';
import type { CliContext } from '../../cli.ts';
import { CliError, type DataFolder } from '../../data-folder.ts';
import { findChosenAgent, type LoadedSettings } from '../../settings.ts';
import { createSpendingRecorder } from '../../soul.ts';
import type { ReplayFlags } from './replay-choice.ts';

interface ReleaseReplay {
  readonly release: string;
  /** The turns, as in the words of the command, and how many. */
  readonly what: string;
  readonly count: number;
  readonly flags: ReplayFlags;
  readonly store: Pick<Store, 'spend'>;
  readonly loaded: LoadedSettings;
}

/** The largest report of another version, in bytes. */
const MAX_REPORT = 512 * 1_024 * 1_024;

/**
 * Replays turns with another version of Parley, in a process of its own. That version gets a copy
 * of the database, because it would migrate the original. What its model calls cost is charged here.
 */
export async function replayWithRelease(
  { folder, env }: CliContext,
  { release, what, count, flags, store, loaded }: ReleaseReplay,
): Promise<ReplayReport> {
  const program = findProgram(release);
  const copy = await copyDataFolder(folder, loaded);
  try {
    const words = ['--data', copy, '--config', folder.settingsFile, ...toWords(what, count, flags)];
    const written = await runProgram(program, words, env, release);
    const report = parseReport(written, release);
    await chargeReport(report, store, loaded);
    return report;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

const PackageBin = z.object({ bin: z.object({ parley: z.string() }) });

/** Finds the program of an unpacked release; npm unpacks into a folder named `package`. */
function findProgram(release: string): string {
  for (const place of [release, join(release, 'package')]) {
    const file = join(place, 'package.json');
    if (!existsSync(file)) continue;
    const { data } = PackageBin.safeParse(JSON.parse(readFileSync(file, 'utf8')));
    if (data !== undefined) return resolve(place, data.bin.parley);
  }
  throw new CliError(
    'replay-release',
    `There is no Parley in ${release}. Unpack a release there, and install its dependencies.`,
  );
}

/** Files that a running gateway writes, or that would make the copy look like the original. */
const NOT_SHARED = /\.db(?:-wal|-shm|-journal)?$|\.lock$|\.pid$/;

/** Copies the database into a temporary folder, next to links to everything else. */
async function copyDataFolder(folder: DataFolder, { settings }: LoadedSettings): Promise<string> {
  if (settings.store.url !== undefined)
    throw new CliError(
      'replay-release-store',
      'Another version can only replay turns from the database in the data folder, because it gets a copy. The settings name another database in store.url.',
    );
  const copy = mkdtempSync(join(tmpdir(), 'parley-replay-'));
  try {
    for (const name of readdirSync(folder.path))
      if (!NOT_SHARED.test(name)) symlinkSync(join(folder.path, name), join(copy, name));
    const path = folder.storeUrl.replace(/^sqlite:/, '');
    const database = new DatabaseSync(path, { readOnly: true });
    await backup(database, join(copy, basename(path)));
    database.close();
    return copy;
  } catch (error) {
    rmSync(copy, { recursive: true, force: true });
    throw error;
  }
}

function toWords(what: string, count: number, flags: ReplayFlags): string[] {
  const { model, profile, file = [], liveReads, dryRun, seconds } = flags;
  return [
    ...['replay', what, ...(what === 'last' ? [String(count)] : ['--limit', String(count)])],
    ...(model === undefined ? [] : ['--model', model]),
    ...(profile === undefined ? [] : ['--profile', profile]),
    ...file.flatMap((one) => ['--file', one]),
    ...(liveReads ? ['--live-reads'] : []),
    ...(dryRun ? ['--dry-run'] : []),
    ...['--seconds', String(seconds), '--json'],
  ];
}

const run = promisify(execFile);

async function runProgram(
  program: string,
  words: readonly string[],
  env: NodeJS.ProcessEnv,
  release: string,
): Promise<string> {
  const options = { env, maxBuffer: MAX_REPORT };
  try {
    return (await run(process.execPath, [program, ...words], options)).stdout;
  } catch (error) {
    // The exit code is 1 if a turn changed; the report is complete nevertheless.
    const { code, stdout, stderr } = Ended.parse(error);
    if (code === 1 && stdout.trim().startsWith('{')) return stdout;
    throw new CliError(
      'replay-release',
      `The version in ${release} could not replay the turns: ${stderr.trim().slice(-2_000) || reasonOf(error)}`,
    );
  }
}

const Ended = z.object({
  code: z.unknown(),
  stdout: z.string().default(''),
  stderr: z.string().default(''),
});

function parseReport(written: string, release: string): ReplayReport {
  try {
    return ReplayReport.parse(JSON.parse(written));
  } catch (error) {
    throw new CliError(
      'replay-release',
      `The version in ${release} reports replays in a form that this version does not know (${reasonOf(error).slice(0, 300)}).`,
    );
  }
}

async function chargeReport(
  { turns }: ReplayReport,
  store: Pick<Store, 'spend'>,
  loaded: LoadedSettings,
): Promise<void> {
  for (const outcome of turns) {
    const usage = 'after' in outcome ? outcome.after?.usage : null;
    if (usage == null) continue;
    const { name, settings } = findChosenAgent(
      loaded,
      getConversationAgent(outcome.conversationId),
    );
    const named = name === undefined ? undefined : { name, ofAll: loaded.settings.spend };
    const deps = { store, named, clock: systemTime.clock, log: silentLogger };
    await createSpendingRecorder(settings, { ...deps, purpose: 'replay' }).spent(usage);
  }
}
