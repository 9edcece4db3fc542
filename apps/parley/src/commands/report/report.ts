import { writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { resolve } from 'node:path';
import { Writable } from 'node:stream';
import { reasonOf, systemTime } from '@parley/core';
import type { BugReport } from '@parley/gateway/api';
import type { Store } from '@parley/store';
import { type CliContext, withStore } from '../../cli.ts';
import { CliError } from '../../data-folder.ts';
import { readStoredLog } from '../../log-reader.ts';
import type { LoadedPlugins } from '../../plug-in.ts';
import type { StartOptions } from '../../process-options.ts';
import { checkSettings, type LoadedSettings, toRetentionAges } from '../../settings.ts';
import { getVersionInfo } from '../../version.ts';
import { writeArchive } from '../backup/archive.ts';
import { listExaminedAgents, runAudit, toAuditReport } from '../checks/audit-report.ts';
import { runDoctorChecks } from '../checks/doctor.ts';
import { type Installation, inspectInstallation } from '../checks/installation.ts';
import { openMask } from './mask.ts';

/** The number of log lines in the bundle, counted back from the newest. */
const LOG_LINES = 1_000;
/** The deadline (ms) for each doctor check. */
const CHECK_MS = 8_000;

const README = `A bundle for a bug report about Parley. Look through it before you send it.

versions.json   Parley, Node, SQLite, the machine
settings.json   the settings that are in use; problems.json where they are invalid
doctor.json     what "parley doctor" found
audit.json      how many weaknesses "parley audit" found, and of which kind
status.json     what the running gateway says of itself
database.json   state of the schema, rows and bytes of each table, what waits in the queue
log.ndjson      the last ${LOG_LINES} lines of the log, oldest first

A text is shown only if it is written in the program of Parley itself, word for word, such as "info" or "turn failed".
Everything else, that is all names, ids, messages, paths, addresses, keys and tokens, is a number in brackets, such
as [text 7]: the same number for the same text, in all files. Numbers above 9,999,999 are hidden as well.
`;

/**
 * `parley report` (U03): writes the bundle for a bug report. The exit code is 1 if the file cannot
 * be written.
 */
export async function writeReport(cli: CliContext, out = 'parley-report.tar.gz'): Promise<number> {
  const { installation, end } = await inspectInstallation(cli, systemTime);
  const { files, archive } = await collectReport(installation);
  const path = resolve(out);
  try {
    writeFileSync(path, archive, { flag: 'wx', mode: 0o600, encoding: 'base64' });
  } catch (error) {
    const message = `The bundle cannot be written to ${path} (${reasonOf(error)}). Choose another file with --out FILE.`;
    throw new CliError('report-unwritable', message, error);
  } finally {
    end();
  }
  for (const { name, text } of files)
    cli.print(`${name.padEnd(16)}${Buffer.byteLength(text)} bytes`);
  cli.print(
    `\nWritten to ${path}. The bundle does not contain secrets, names or message text; check it before you send it.`,
  );
  return 0;
}

/** Collects the same report for the page, using the plugins that are already loaded. */
export async function collectGatewayReport(
  { folder, env, ...time }: Pick<StartOptions, 'folder' | 'env' | 'clock' | 'monotonic'>,
  { report, definitions }: Pick<LoadedPlugins, 'report' | 'definitions'>,
  loaded: LoadedSettings,
): Promise<BugReport> {
  const result = checkSettings(folder, env, definitions);
  const read = async () => ({ result, loaded, report, definitions, end() {} });
  const { installation } = await inspectInstallation({ folder, env }, time, read);
  return collectReport(installation);
}

/** Collects information for finding a bug, and hides all text that does not come from Parley. */
export async function collectReport(installation: Installation): Promise<BugReport> {
  const { folder, clock } = installation;
  const mask = await openMask();
  const json = (value: unknown): string => `${JSON.stringify(mask(value), null, 2)}\n`;
  const parts: Readonly<Record<string, () => Promise<unknown>>> = {
    settings: async () => installation.loaded?.settings ?? installation.checked,
    doctor: async () => runDoctorChecks(installation, CHECK_MS),
    audit: () => getAuditCounts(installation),
    status: async () =>
      installation.gateway.kind === 'runs'
        ? installation.gateway.status
        : installation.gateway.kind,
    database: () => getDatabaseInfo(installation),
  };
  const found = await Promise.all(
    Object.entries(parts).map(async ([name, collect]) => {
      const value = await collect().catch((failure: unknown) => ({
        failure: getErrorInfo(failure),
      }));
      return { name: `${name}.json`, text: json(value) };
    }),
  );
  const { lines } = await readStoredLog(folder.logs, { level: 'debug', limit: LOG_LINES });
  const log = lines.toReversed().map(({ raw }) => `${JSON.stringify(mask(JSON.parse(raw)))}\n`);
  const files = [
    { name: 'README.txt', text: README },
    { name: 'versions.json', text: `${JSON.stringify(getMachineInfo(clock()), null, 2)}\n` },
    ...found,
    { name: 'log.ndjson', text: log.join('') },
  ];
  const name = `parley-report-${new Date(clock()).toISOString().slice(0, 10)}.tar.gz`;
  return { name, files, archive: (await packArchive(files)).toString('base64') };
}

/** Returns information about Parley and the machine that is not personal. */
function getMachineInfo(now: number) {
  const { platform, arch, versions } = process;
  const { openssl, v8, modules } = versions;
  return {
    ...{ at: new Date(now).toISOString(), ...getVersionInfo() },
    ...{ platform, arch, openssl, v8, modules, release: release() },
    ...{ cpus: cpus().length, memoryMegabytes: Math.round(totalmem() / 1e6) },
  };
}

function getErrorInfo(failure: unknown) {
  const isError = failure instanceof Error;
  return isError
    ? { ...failure, name: failure.name, message: failure.message, stack: failure.stack }
    : {};
}

/** Returns only the counts, because findings mention files and groups by name. */
async function getAuditCounts(installation: Installation) {
  const { loaded, clock } = installation;
  if (loaded === null) return 'skipped';
  const results = await runAudit(listExaminedAgents(installation, loaded), installation);
  const { counts, findings } = toAuditReport(results, clock());
  return { counts, findings: findings.map(({ id, severity }) => ({ id, severity })) };
}

async function getDatabaseInfo({ folder, env, database, clock }: Installation) {
  const state =
    database.kind === 'seen' ? database.state : { failure: getErrorInfo(database.error) };
  // The database is not opened if that would change its schema.
  if (database.kind !== 'seen' || database.state.kind !== 'current') return { state };
  const tables = async (store: Store, { settings }: LoadedSettings) => ({
    state,
    use: await store.retention.use(toRetentionAges(settings), clock()),
    lastRun: await store.retention.last(),
    queue: await store.backlog.read(1, clock()),
    outbox: await store.outbox.counts(),
    deadLetters: await store.deadLetters.counts(),
  });
  return withStore({ folder, env }, tables);
}

async function packArchive(files: BugReport['files']): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const memory = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  const archive = await writeArchive(memory);
  for (const { name, text } of files) await archive.add(name, text);
  await archive.end();
  return Buffer.concat(chunks);
}
