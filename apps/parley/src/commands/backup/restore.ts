import { randomUUID } from 'node:crypto';
import { createWriteStream, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Clock, countOf, systemTime } from '@parley/core';
import { type BackupRows, restoreStore } from '@parley/store/backup';
import type { Cli } from '../../cli.ts';
import {
  CliError,
  commandLine,
  createDataFolder,
  type DataFolder,
  findInstance,
} from '../../data-folder.ts';
import { READ_SO_FAR } from '../../database-mark.ts';
import { askGateway, type FoundGateway, findGateway } from '../../running-gateway.ts';
import { isShared, type LoadedSettings, readSettings } from '../../settings.ts';
import { minuteText } from '../../terminal/text.ts';
import { readArchive } from './archive.ts';
import { agrees, planText, type RunningUsers } from './consent.ts';
import {
  checkBackup,
  entryKind,
  FOLDERS,
  type Manifest,
  manifestOf,
  rowsOf,
  workspacePlaces,
} from './contents.ts';
import {
  announceExchange,
  type Exchange,
  type ExchangePlan,
  type ExchangeResult,
  exchangeHere,
  openWorkFolder,
  outcomeOf,
  planFile,
  settingsBeside,
  tidyUp,
} from './exchange.ts';

export interface RestoreFlags {
  readonly goOn?: boolean;
  readonly withSettings?: boolean;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

/** A shutdown takes 10 s at most, and files on another file system are copied. In ms. */
const EXCHANGED_WITHIN_MS = 10 * 60_000;

/**
 * `parley restore FILE`: puts a backup back and reports what that means; 0 when it is done. Everything is
 * prepared here. A process that runs on the data folder alone is asked to exchange its state for it, between
 * two starts. Processes that share a PostgreSQL keep running: there it is one transaction, which fences what
 * they were doing. While Parley runs, or may run elsewhere, a person agrees first, or `--yes` does.
 */
export async function restore(
  { folder, env, print }: Cli,
  name: string,
  { goOn = false, withSettings = false, yes = false, dryRun = false }: RestoreFlags,
): Promise<number> {
  const gateway = await ownProcess(folder, env);
  const file = resolve(name);
  if (dryRun || !yes) {
    const backup = await checkBackup(file);
    const users = usersOf(gateway, folder, env);
    if (dryRun || users.kind !== 'none') print(planText(backup, users, folder));
    if (dryRun) return 0;
    if (users.kind !== 'none' && !(await agrees(file))) {
      print('Nothing was changed.');
      return 1;
    }
  }
  const done = await restoreBackup({
    file,
    folder,
    env,
    clock: systemTime.clock,
    unfinished: goOn ? 'go-on' : 'hold',
    withSettings,
    ...(gateway && { exchange: (plan, staging) => askFor(gateway, folder, plan, staging, print) }),
  });
  print(restoreText(done, folder));
  return 0;
}

function usersOf(
  gateway: FoundGateway | null,
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
): RunningUsers {
  if (gateway !== null) return { kind: 'process', pid: gateway.pid };
  // An empty folder gets the settings of the backup, so it has no database in use yet.
  if (!existsSync(folder.settingsFile)) return { kind: 'none' };
  return isShared(readSettings(folder, env).settings) ? { kind: 'shared' } : { kind: 'none' };
}

/** The process that has the data folder to itself; null where none runs. */
async function ownProcess(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
): Promise<FoundGateway | null> {
  if (findInstance(folder) === null || isShared(readSettings(folder, env).settings)) return null;
  return await findGateway(folder, env);
}

async function askFor(
  gateway: FoundGateway,
  folder: DataFolder,
  plan: ExchangePlan,
  staging: string,
  print: (text: string) => void,
): Promise<ExchangeResult> {
  const id = randomUUID();
  writeFileSync(planFile(staging), JSON.stringify({ ...plan, id }), { mode: 0o600 });
  const body = { id, staging: basename(staging) };
  await askGateway(gateway, '/api/restore', { body });
  print(`Process ${gateway.pid} ends what it does, takes the restored state, and starts again.`);
  const outcome = await outcomeOf(id, folder, EXCHANGED_WITHIN_MS);
  if (outcome?.error === null) return outcome;
  throw new CliError(
    'restore-unanswered',
    outcome === null
      ? `Process ${gateway.pid} was asked to take over the restored state and has not answered; see its terminal or log.`
      : `Process ${gateway.pid} could not take over the restored state: ${outcome.error}`,
  );
}

export interface RestoreOrder {
  readonly file: string;
  readonly folder: DataFolder;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  /** `go-on`: nothing has run since the backup was made, so what waits in it may be done. */
  readonly unfinished: 'hold' | 'go-on';
  /** The settings of the backup take the place of those that are there; where there are none they always do. */
  readonly withSettings: boolean;
  /** Who exchanges what is ready in `staging`; this process, where it is absent. */
  readonly exchange?: (plan: ExchangePlan, staging: string) => Promise<ExchangeResult>;
}

type RestoreDone = Awaited<ReturnType<typeof restoreBackup>>;

/**
 * Puts a backup back. The backup is read through first; the new state is made beside the old one, which is
 * moved aside in the end. Throws BackupError, StoreError or CliError, having changed nothing.
 */
export async function restoreBackup(order: RestoreOrder) {
  const { file, folder, env } = order;
  const checked = await checkBackup(file);
  createDataFolder(folder);
  await tidyUp(folder, env);
  const usedSettings =
    checked.hasSettings && (order.withSettings || !existsSync(folder.settingsFile));
  const work = openWorkFolder(folder, 'restoring-');
  const staging = work.path;
  const settings = settingsBeside(folder, staging);
  try {
    await stageFiles(file, staging, usedSettings ? settings : null);
    const settingsFile = usedSettings ? settings : folder.settingsFile;
    const done = await putBack(order, checked.manifest, staging, settingsFile);
    return { ...checked, ...done, usedSettings };
  } finally {
    // What is half exchanged is finished with it by the next start.
    if (!existsSync(folder.restoreMarker)) {
      rmSync(settings, { force: true });
      work.remove();
    }
  }
}

async function putBack(
  { file, folder, env, clock, unfinished, exchange }: RestoreOrder,
  manifest: Manifest,
  staging: string,
  settingsFile: string,
) {
  const loaded = readSettings({ ...folder, settingsFile }, env);
  const { settings } = loaded;
  const isOurs = !isShared(settings);
  const database = join(staging, 'parley.db');
  const stamp = new Date(clock()).toISOString().replaceAll(/\D/g, '');
  const exchanges = [
    ...(isOurs ? databaseFiles(folder, database) : []),
    ...stagedFolders(folder, loaded, staging),
    ...(settingsFile === folder.settingsFile
      ? []
      : [{ name: 'parley.yaml', path: folder.settingsFile, staged: settingsFile }]),
  ];
  const from = databasePath(folder);
  const plan: ExchangePlan = {
    file,
    staging,
    exchanges,
    newAside: join(folder.path, `before-restore-${stamp}`),
    carry: isOurs ? { from, to: database, unfinished, forget: READ_SO_FAR } : null,
    commit: null,
  };
  const store = await restoreStore({
    url: settings.store.url ?? `sqlite:${database}`,
    clock,
    schema: manifest,
    rows: rowsIn(file, manifest),
    unfinished,
    forget: READ_SO_FAR,
    beforeCommit: (transaction) =>
      announceExchange(folder, { ...plan, commit: { transaction, settings: settingsFile } }),
  });
  const { aside, carried } = exchange
    ? await exchange(plan, staging)
    : await exchangeHere(folder, plan);
  /** `asideFolder`: the old files; `aside` the old tables on PostgreSQL. */
  return { ...store, carried: carried ?? store.carried, asideFolder: aside };
}

/** Folders that the backup lacks are moved aside all the same. */
function stagedFolders(folder: DataFolder, loaded: LoadedSettings, staging: string): Exchange[] {
  const places = [
    ...workspacePlaces(loaded, folder.path),
    ...FOLDERS.map((name) => ({ name, path: join(folder.path, name) })),
  ];
  return places.map(({ name, path }) => {
    const staged = join(staging, name);
    return { name, path, staged: existsSync(staged) ? staged : null };
  });
}

function databasePath({ storeUrl }: DataFolder): string {
  return storeUrl.slice('sqlite:'.length);
}

/** What SQLite keeps beside the old file belongs to it. */
function databaseFiles(folder: DataFolder, staged: string): readonly Exchange[] {
  const path = databasePath(folder);
  return ['', '-wal', '-shm', '-files'].map((end) => ({
    name: `parley.db${end}`,
    path: `${path}${end}`,
    staged: ['', '-files'].includes(end) ? `${staged}${end}` : null,
  }));
}

async function* rowsIn(file: string, manifest: Manifest): AsyncIterable<BackupRows> {
  for await (const entry of readArchive(file)) {
    if (entry.name === 'manifest.json') await manifestOf(file, entry);
    else if (entry.name.startsWith('database/')) yield await rowsOf(file, entry, manifest);
  }
}

function restoreText(done: RestoreDone, folder: DataFolder): string {
  const { manifest, rows, files, jobs, aside, asideFolder, carried } = done;
  const gone = carried?.kind === 'carried' ? carried.letters : { unanswered: 0, uncertain: 0 };
  const [turns, parts] = [done.turns - gone.unanswered, done.parts - gone.uncertain];
  const made = minuteText(manifest.madeAt);
  const held = waitingText(turns, 'unanswered conversation', parts);
  return [
    `Restored what was there at ${made} UTC: ${countOf(rows, 'row')} and ${countOf(files, 'file')}.`,
    ...(asideFolder === null ? [] : [`The files from before are in ${asideFolder}.`]),
    ...(aside === null
      ? []
      : [`The tables from before are in the schema ${aside} of the database.`]),
    ...(done.usedSettings || !done.hasSettings
      ? []
      : ['The settings were left as they are; --with-settings takes those of the backup.']),
    ...carriedText(carried),
    ...(held === ''
      ? []
      : [
          `Held back, since it may have been done after the backup: ${held}. "${commandLine('dead list', folder)}" shows it.`,
        ]),
    ...(jobs > 0 ? [`Paused, since they were due meanwhile: ${countOf(jobs, 'reminder')}.`] : []),
    'What was written since the backup is not known any more; WhatsApp may have to be linked again.',
  ].join('\n');
}

function carriedText(carried: RestoreDone['carried']): readonly string[] {
  if (carried === null) return [];
  if (carried.kind === 'unreadable') {
    return [
      `What waited in the database from before could not be carried over (${carried.reason}): who waits for an answer has to ask again.`,
    ];
  }
  const what = waitingText(carried.messages, 'unanswered message', carried.parts);
  return what === '' ? [] : [`Carried over, since people wait for it: ${what}.`];
}

function waitingText(count: number, noun: string, parts: number): string {
  const what = [
    ...(count > 0 ? [countOf(count, noun)] : []),
    ...(parts > 0 ? [`${countOf(parts, 'part')} of answers`] : []),
  ];
  return what.join(' and ');
}

/** `settings`: where those of the backup go; null: they are not wanted. */
async function stageFiles(file: string, folder: string, settings: string | null): Promise<void> {
  for await (const entry of readArchive(file)) {
    const is = entryKind(entry.name);
    if (is?.kind === 'settings' && settings !== null) await write(settings, entry.chunks());
    if (is?.kind === 'file') await write(join(folder, is.folder, ...is.path), entry.chunks());
  }
}

async function write(path: string, chunks: AsyncIterable<Buffer>): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  await pipeline(chunks, createWriteStream(path, { mode: 0o600, flush: true }));
}
