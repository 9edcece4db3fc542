import { existsSync } from 'node:fs';
import { mkdtemp, open, rm, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { pluralize, reasonOf } from '@parley/core';
import { openFolderReader } from '@parley/workspace';
import { formatCommandLine } from '../../data-folder.ts';
import { listAgents } from '../../settings.ts';
import {
  type Check,
  type CheckFinding,
  defineDoctorCheck,
  failed,
  ok,
  skipped,
  warning,
} from './check.ts';
import type { FactsFor } from './facts.ts';

export const MACHINE_CHECKS: readonly Check[] = [
  defineDoctorCheck(['config'], {
    id: 'disk',
    title:
      'Parley can write 1 MB to the data folder and to workspaces elsewhere, and 500 MB remain free.',
    run({ folder, loaded }) {
      const agents = loaded === null ? [] : listAgents(loaded);
      const workspaces = agents.map(({ name, settings }) => ({
        name,
        path: settings.agent.workspace,
      }));
      const outside = workspaces.filter(({ path }) => !path.startsWith(`${folder.path}/`));
      const folders = [{ name: undefined, path: folder.path }, ...outside];
      return folders.map(({ name, path }) => async () => [
        { ...(await checkFolder(path)), subject: name },
      ]);
    },
  }),
  defineDoctorCheck(['settings', 'gateway'], {
    id: 'port',
    title: 'The running gateway uses `http.port`, or the port is free.',
    run: checkPort,
  }),
  defineDoctorCheck(['settings'], {
    id: 'heartbeat',
    title: 'The tasks in HEARTBEAT.md and the time zone in USER.md are valid.',
    agents: 'each',
    async run({ settings: { agent }, clock }) {
      if (!existsSync(agent.workspace)) return [];
      const { previewTasks } = await import('@parley/proactive');
      const files = await openFolderReader(agent.workspace, clock);
      const { isThere, tasks, problems } = await previewTasks(files, agent);
      // An agent without HEARTBEAT.md has no tasks.
      if (!isThere) return [];
      if (problems.length === 0) return [ok(`HEARTBEAT.md has ${pluralize(tasks.length, 'task')}`)];
      const advice = `Correct ${join(agent.workspace, 'HEARTBEAT.md')}, or run "parley heartbeat convert".`;
      return problems.map((problem) => warning(problem, advice));
    },
  }),
];

/**
 * Summarizes the audit in `parley doctor`: the number of findings by severity, and the command that
 * lists them.
 */
export const AUDIT_CHECK = defineDoctorCheck(['settings', 'audit'], {
  id: 'audit',
  title: '`parley audit` has no warnings; a critical finding counts as a failed check.',
  async run({ folder, countFindings }) {
    if (!existsSync(folder.path)) return [skipped('there is no data folder yet')];
    const { critical, warning: warnings } = await countFindings();
    const advice = `Run "${formatCommandLine('audit', folder)}", which explains how to fix each finding.`;
    const counted = pluralize(warnings, 'warning');
    if (critical > 0) return [failed(`${critical} critical, ${counted}`, advice)];
    return [warnings > 0 ? warning(counted, advice) : ok('no security weakness was found')];
  },
});

/**
 * The size of the test write, in bytes. SQLite's write-ahead log and a received picture are about
 * this size.
 */
const TRIED_BYTES = 1024 * 1024;
const LITTLE_ROOM_BYTES = 500 * 1024 * 1024;

async function checkFolder(path: string): Promise<CheckFinding> {
  const there = findNearestFolder(path);
  try {
    await tryToWrite(there);
    const { bavail, bsize, ffree, files } = await statfs(there);
    const free = bavail * bsize;
    const room = `${(free / 1e9).toFixed(1)} GB are free`;
    if (free < LITTLE_ROOM_BYTES || (files > 0 && ffree < 1_000)) {
      const advice =
        'Free up space before the disk is full. "parley storage" shows how much each part uses.';
      return warning(
        `${path} is writable, but only ${(free / 1e6).toFixed(0)} MB are free`,
        advice,
      );
    }
    if (there !== path) return ok(`${path} can be created by the first start; ${room}`);
    return ok(`${path} is writable; ${room}`);
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
    const advice =
      code === 'ENOSPC' || code === 'EDQUOT'
        ? 'Free up space on that disk. Parley does not confirm messages that it cannot store.'
        : 'Give the user that runs Parley write permission there, or choose another folder with --data FOLDER.';
    return failed(`${there} is not writable: ${reasonOf(thrown)}`, advice);
  }
}

function findNearestFolder(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : findNearestFolder(dirname(path));
}

/** Writes a test file, syncs it to disk, and removes it. */
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

async function checkPort(
  { gateway, settings: { http } }: FactsFor<'settings' | 'gateway'>,
  signal: AbortSignal,
): Promise<readonly CheckFinding[]> {
  const { host, port } = http;
  if (gateway.kind === 'runs') return [ok(`the running gateway uses ${gateway.at.address}`)];
  if (gateway.kind === 'silent')
    return [skipped('the gateway has opened the port but does not answer')];
  if (port === 0) return [ok(`any free port on ${host}`)];
  const code = await tryToListen(host, port);
  if (code === null) return [ok(`port ${port} on ${host} is free`)];
  if (code !== 'EADDRINUSE') {
    const advice =
      'Set http.host and http.port to an address that this user may use on this machine.';
    return [failed(`port ${port} on ${host} cannot be opened: ${code}`, advice)];
  }
  const who = (await isParley(host, port, signal)) ? 'another Parley' : 'another program';
  const advice = 'Stop that program, or set http.port to another number (0 picks any free port).';
  return [failed(`port ${port} on ${host} is taken by ${who}`, advice)];
}

/** Tries to listen on the port and returns the error code; null if the port is free. */
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
