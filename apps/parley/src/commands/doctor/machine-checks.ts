import { existsSync } from 'node:fs';
import { mkdtemp, open, rm, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { countOf, reasonOf, systemTime } from '@parley/core';
import type { AuditReport } from '@parley/gateway/api';
import { encodingDoubt, openForReading, surveyFolder } from '@parley/workspace';
import { commandLine } from '../../data-folder.ts';
import { askGateway } from '../../running-gateway.ts';
import { allAgents, type LoadedSettings } from '../../settings.ts';
import { type Check, type Finding, failed, ok, skipped, warning } from './check.ts';
import type { Situation } from './situation.ts';

/** The machine that Parley runs on, and the rights on it. */
export function machineChecks(situation: Situation): readonly Check[] {
  const { loaded } = situation;
  const disk = { name: 'disk', run: () => diskFindings(situation) };
  if (loaded === null) return [disk];
  return [
    disk,
    { name: 'port', run: (signal) => portFindings(situation, loaded, signal) },
    { name: 'sandbox', run: () => sandboxFindings(situation, loaded) },
    { name: 'heartbeat', run: () => heartbeatFindings(loaded) },
    { name: 'files', run: () => fileFindings(loaded) },
    { name: 'audit', run: () => auditFindings(situation, loaded) },
  ];
}

/** What Parley writes in one go: the log of SQLite, and a picture that someone sends. In bytes. */
const TRIED_BYTES = 1024 * 1024;
const LITTLE_ROOM_BYTES = 500 * 1024 * 1024;

async function diskFindings({ folder, loaded }: Situation): Promise<readonly Finding[]> {
  const agents = loaded === null ? [] : allAgents(loaded);
  const workspaces = agents.map(({ name, settings }) => ({ name, path: settings.agent.workspace }));
  const outside = workspaces.filter(({ path }) => !path.startsWith(`${folder.path}/`));
  const folders = [{ name: undefined, path: folder.path }, ...outside];
  return Promise.all(
    folders.map(async ({ name, path }) => ({
      ...(await folderFinding(path)),
      ...(name !== undefined && { subject: name }),
    })),
  );
}

/** What of each HEARTBEAT.md cannot be used as it is; an agent without the file has no tasks. */
async function heartbeatFindings(loaded: LoadedSettings): Promise<readonly Finding[]> {
  const { foreseeTasks } = await import('@parley/proactive');
  const found = allAgents(loaded).map(async ({ name, settings: { agent } }) => {
    if (!existsSync(agent.workspace)) return [];
    const files = await openForReading(agent.workspace, systemTime.clock);
    const { isThere, tasks, problems } = await foreseeTasks(files, agent);
    if (!isThere) return [];
    if (problems.length === 0)
      return [ok(`HEARTBEAT.md has ${countOf(tasks.length, 'task')}`, name)];
    const fix = `Correct ${join(agent.workspace, 'HEARTBEAT.md')}, or run "parley heartbeat convert".`;
    return problems.map((problem) => warning(problem, fix, name));
  });
  return (await Promise.all(found)).flat();
}

/** Markdown files of each workspace that cannot be read, or only with a guess about their encoding (W10). */
async function fileFindings(loaded: LoadedSettings): Promise<readonly Finding[]> {
  const findings = allAgents(loaded).map(async ({ name, settings: { agent } }) => {
    const survey = await surveyFolder(agent.workspace, systemTime.clock).catch(() => null);
    if (survey === null) return [skipped('there is no workspace yet', name)];
    const doubts = survey.entries.flatMap((entry) => {
      const doubt = encodingDoubt(entry);
      return doubt === null ? [] : [`${entry.name}: ${doubt}`];
    });
    if (doubts.length === 0) return [ok('every Markdown file is read as it was written', name)];
    const fix = `Save it as UTF-8 in ${agent.workspace}.`;
    return doubts.slice(0, MAX_FILES).map((doubt) => warning(doubt, fix, name));
  });
  return (await Promise.all(findings)).flat();
}

/** Of one workspace; what is wrong with more is the same. */
const MAX_FILES = 10;

async function folderFinding(path: string): Promise<Finding> {
  const there = nearestFolder(path);
  try {
    await tryToWrite(there);
    const { bavail, bsize, ffree, files } = await statfs(there);
    const free = bavail * bsize;
    const room = `${(free / 1e9).toFixed(1)} GB are free`;
    if (free < LITTLE_ROOM_BYTES || (files > 0 && ffree < 1_000)) {
      const fix = 'Make room before the disk is full: "parley storage" says what takes how much.';
      return warning(
        `${path} can be written, but only ${(free / 1e6).toFixed(0)} MB are free`,
        fix,
      );
    }
    if (there !== path) return ok(`${path} can be made by the first start; ${room}`);
    return ok(`${path} can be written; ${room}`);
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
    const fix =
      code === 'ENOSPC' || code === 'EDQUOT'
        ? 'Make room on that disk; Parley confirms no message that it cannot store.'
        : 'Give the user that runs Parley the right to write there, or choose another folder with --data FOLDER.';
    return failed(`${there} cannot be written: ${reasonOf(thrown)}`, fix);
  }
}

function nearestFolder(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestFolder(dirname(path));
}

/** Writes a file, waits until it is on the disk, and removes it. */
async function tryToWrite(folder: string): Promise<void> {
  const place = await mkdtemp(join(folder, '.parley-doctor-'));
  try {
    await using file = await open(join(place, 'try'), 'w', 0o600);
    await file.writeFile(Buffer.alloc(TRIED_BYTES));
    await file.sync();
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

async function portFindings(
  { gateway }: Situation,
  { settings: { http } }: LoadedSettings,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { host, port } = http;
  if (gateway.kind === 'runs') return [ok(`the running gateway serves ${gateway.at.address}`)];
  if (gateway.kind === 'silent') return [skipped('the gateway holds it and does not answer')];
  if (port === 0) return [ok(`any free port of ${host}`)];
  const code = await tryToListen(host, port);
  if (code === null) return [ok(`port ${port} on ${host} is free`)];
  if (code !== 'EADDRINUSE') {
    const fix =
      'Set http.host and http.port to an address of this machine that its user may serve.';
    return [failed(`port ${port} on ${host} cannot be served: ${code}`, fix)];
  }
  const who = (await isParley(host, port, signal)) ? 'another Parley' : 'another program';
  const fix = 'Stop that one, or set http.port to another number (0 takes any free one).';
  return [failed(`port ${port} on ${host} is taken by ${who}`, fix)];
}

/** Null: it is free. */
function tryToListen(host: string, port: number): Promise<string | null> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

async function isParley(host: string, port: number, signal: AbortSignal): Promise<boolean> {
  const name = host.includes(':') ? `[${host}]` : host;
  try {
    const answer = await fetch(`http://${name}:${port}/metrics`, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(2_000)]),
    });
    return answer.status === 401 || (await answer.text()).includes('parley_');
  } catch {
    return false;
  }
}

async function sandboxFindings(
  { folder }: Situation,
  { settings: { exec } }: LoadedSettings,
): Promise<readonly Finding[]> {
  if (!exec.enabled) return [skipped('exec is off in the settings')];
  const { trySandbox } = await import('../audit/facts.ts');
  const tried = await trySandbox();
  if (tried.kind !== 'fails') return [ok('a command ran in it')];
  const fix = `Correct that, or set exec.enabled to false in ${folder.settingsFile}: no command runs without it.`;
  return [failed(tried.reason, fix)];
}

/** The short form: how many findings of which severity, and where the long one is. */
async function auditFindings(
  { folder, env, database, gateway }: Situation,
  loaded: LoadedSettings,
): Promise<readonly Finding[]> {
  if (!existsSync(folder.path)) return [skipped('there is no data folder yet')];
  const counts = await countFindings();
  const { critical, warning: warnings } = counts;
  const fix = `Run "${commandLine('audit', folder)}", which says what to do about each.`;
  if (critical > 0) return [failed(`${critical} critical, ${countOf(warnings, 'warning')}`, fix)];
  if (warnings > 0) return [warning(countOf(warnings, 'warning'), fix)];
  return [ok('nothing weakens the guards of this installation')];

  async function countFindings(): Promise<AuditReport['counts']> {
    if (gateway.kind === 'runs')
      return (await askGateway<AuditReport>(gateway.at, '/api/audit/report')).counts;
    const { auditOf, countsOf, lookAt } = await import('../audit/audit.ts');
    const isOpen = database.kind === 'seen' && database.state.kind === 'current';
    return countsOf(auditOf(await lookAt(folder, env, loaded, isOpen && gateway.kind === 'none')));
  }
}
